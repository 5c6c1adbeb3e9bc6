import { expect, test } from "vitest";
import { startAccountServer } from "./testing/account-server.ts";

const RECORD = {
  Login: "1",
  Group: String.raw`pamm\investor`,
  Rights: "355",
  Leverage: "100",
  Name: "Ann Lee",
  Comment: "PAMM 1",
  Email: "ann@example.com",
  Agent: "0",
  Balance: "5.00",
};
type Update = Parameters<typeof startAccountServer>[1];
const serverOf = (update: Update) => startAccountServer(RECORD, update);
const DISABLED = { ...RECORD, Rights: "358" };
/** As a server that replaces the whole record. */
const replaced: Update = (_, fields) => ({
  ...Object.fromEntries(Object.keys(RECORD).map((name) => [name, name === "Leverage" ? "1" : ""])),
  Login: "1",
  Balance: "5.00",
  Group: RECORD.Group,
  ...fields,
});

test("an update that keeps the other fields is done with one request", async () => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields }));
  expect(await server.client.disableUser("1")).toMatchObject({ kind: "done" });
  expect([server.record(), server.calls()]).toEqual([DISABLED, 1]);
});

test("fields that the update has cleared are written back together with the new rights", async () => {
  await using server = await serverOf(replaced);
  expect(await server.client.disableUser("1")).toMatchObject({ kind: "done" });
  expect([server.record(), server.calls()]).toEqual([{ ...DISABLED, Agent: "" }, 2]);
});

test("fields that cannot be written back leave the outcome unknown", async () => {
  await using server = await serverOf((before, fields, call) =>
    call === 1 ? replaced(before, fields, call) : { ...before, Name: "Ann Lee" },
  );
  expect(await server.client.disableUser("1")).toEqual({ kind: "unknown", reason: "contradictory" });
});

test("rights that the second update does not keep leave the outcome unknown", async () => {
  await using server = await serverOf((before, fields, call) =>
    call === 1 ? replaced(before, fields, call) : { ...RECORD, Rights: "355" },
  );
  expect(await server.client.disableUser("1")).toEqual({ kind: "unknown", reason: "contradictory" });
});

test("a text that another manager changes at the same moment is kept", async () => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields, Comment: "VIP" }));
  expect(await server.client.disableUser("1")).toMatchObject({ kind: "done" });
  expect(server.record()).toEqual({ ...DISABLED, Comment: "VIP" });
});
