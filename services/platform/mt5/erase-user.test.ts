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
  Balance: "0.00",
};
const ERASED = {
  ...RECORD,
  Rights: "358",
  Name: "erased",
  FirstName: "erased",
  LastName: "erased",
  City: "",
  Phone: "",
  Email: "",
};

const serverOf = (update: Parameters<typeof startAccountServer>[1]) => startAccountServer(RECORD, update);

test("names and contacts are replaced, the rights removed, the rest stays, and a repetition sends nothing", async () => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields }));
  expect(await server.client.eraseUser("1")).toEqual({ kind: "done" });
  expect(await server.client.eraseUser("1")).toEqual({ kind: "done" });
  expect([server.record(), server.calls()]).toEqual([ERASED, 1]);
});

test("a server that replaces the whole record keeps what is not personal", async () => {
  await using server = await serverOf((before, fields) => ({
    ...Object.fromEntries(Object.keys(before).map((name) => [name, ""])),
    Balance: "0.00",
    ...fields,
  }));
  expect(await server.client.eraseUser("1")).toEqual({ kind: "done" });
  expect(server.record()).toEqual({ ...ERASED, Agent: "" });
});

test.each([
  ["a personal field", { Email: "ann@example.com" }],
  ["the rights", { Rights: "355" }],
  ["an empty comment instead of the one before", { Comment: "" }],
])("a server that keeps %s leaves the outcome unknown", async (_, kept) => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields, ...kept }));
  expect(await server.client.eraseUser("1")).toEqual({ kind: "unknown", reason: "contradictory" });
});

test("an account that the platform does not show is not changed", async () => {
  await using server = await serverOf((before, fields) => ({ ...before, ...fields }));
  expect(await server.client.eraseUser("2")).toBeUndefined();
  expect(server.calls()).toBe(0);
});
