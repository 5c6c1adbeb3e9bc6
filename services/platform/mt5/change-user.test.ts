import { expect, test } from "vitest";
import { startAccountServer } from "./testing/account-server.ts";

const RECORD: Readonly<Record<string, string>> = {
  Login: "1",
  Group: String.raw`pamm\investor`,
  Rights: "355",
  Leverage: "100",
  Name: "Ann Lee",
  FirstName: "Ann",
  LastName: "Lee",
  Country: "Malta",
  City: "Valletta",
  Phone: "+356 1234",
  Email: "ann@example.com",
  Comment: "PAMM 1",
  Agent: "0",
  Balance: "5.00",
};
const DISABLED = { ...RECORD, Rights: "358" };
const NAMES = { Name: "erased", FirstName: "erased", LastName: "erased" };
const ERASED = { ...DISABLED, ...NAMES, City: "", Phone: "", Email: "" };
const UNCONFIRMED = { kind: "unknown", reason: "contradictory" };

type Update = Parameters<typeof startAccountServer>[1];
const serverOf = (update: Update) => startAccountServer(RECORD, update);
const kept: Update = (before, fields) => ({ ...before, ...fields });
/** As a server that replaces the whole record. */
const replaced: Update = (before, fields) => ({
  ...Object.fromEntries(Object.keys(before).map((name) => [name, name === "Leverage" ? "1" : ""])),
  Login: "1",
  Balance: "5.00",
  Group: RECORD["Group"] ?? "",
  ...fields,
});

test("an update that keeps the other fields is done with one request", async () => {
  await using server = await serverOf(kept);
  expect(await server.client.disableUser("1")).toMatchObject({ kind: "done" });
  expect([server.record(), server.calls()]).toEqual([DISABLED, 1]);
});

test("fields that the update has cleared are written back together with the new rights", async () => {
  await using server = await serverOf(replaced);
  expect(await server.client.disableUser("1")).toMatchObject({ kind: "done" });
  expect([server.record(), server.calls()]).toEqual([{ ...DISABLED, Agent: "" }, 2]);
});

test.each<[string, Update]>([
  ["fields that cannot be written back", (before) => ({ ...before, Name: "Ann Lee" })],
  ["rights that the second update does not keep", () => RECORD],
])("%s leave the outcome unknown", async (_, second) => {
  await using server = await serverOf((before, fields, call) => (call === 1 ? replaced : second)(before, fields, call));
  expect(await server.client.disableUser("1")).toEqual(UNCONFIRMED);
});

test("a text that another manager changes at the same moment is kept", async () => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields, Comment: "VIP" }));
  expect(await server.client.disableUser("1")).toMatchObject({ kind: "done" });
  expect(server.record()).toEqual({ ...DISABLED, Comment: "VIP" });
});

test("an erasure replaces names and contacts and removes the rights, the rest stays, and a repetition sends nothing", async () => {
  await using server = await serverOf(kept);
  expect(await server.client.eraseUser("1")).toEqual({ kind: "done" });
  expect(await server.client.eraseUser("1")).toEqual({ kind: "done" });
  expect([server.record(), server.calls()]).toEqual([ERASED, 1]);
});

test("an erasure on a server that replaces the whole record keeps what is not personal", async () => {
  await using server = await serverOf(replaced);
  expect(await server.client.eraseUser("1")).toEqual({ kind: "done" });
  expect(server.record()).toEqual({ ...ERASED, Agent: "" });
});

test.each([
  ["a personal field", { Email: "ann@example.com" }],
  ["the rights", { Rights: "355" }],
  ["an empty comment instead of the one before", { Comment: "" }],
])("an erasure on a server that keeps %s leaves the outcome unknown", async (_, left) => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields, ...left }));
  expect(await server.client.eraseUser("1")).toEqual(UNCONFIRMED);
});

test("an account that the platform does not show is not changed", async () => {
  await using server = await serverOf(kept);
  expect(await server.client.eraseUser("2")).toBeUndefined();
  expect(server.calls()).toBe(0);
});
