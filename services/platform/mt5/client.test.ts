import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "#kernel/secret.ts";
import type { Mt5Client } from "./client.ts";
import { type PlatformServer, startPlatformServer } from "./testing/platform-server.ts";

let platform: PlatformServer;
let mt5: Mt5Client;

beforeAll(async () => {
  platform = await startPlatformServer({ timeZone: "Europe/Athens" });
  mt5 = platform.client({ timeZone: "Europe/Athens" });
});
afterAll(async () => {
  mt5[Symbol.dispose]();
  await platform[Symbol.asyncDispose]();
});

const MAIN = new Secret("Abcdef1!");
const aUser = (login: string, own: object = {}) => ({
  login,
  group: String.raw`pamm\investor`,
  firstName: "Zoë",
  lastName: "O'Brien-Łukasz",
  email: "zoe@example.com",
  leverage: 100,
  comment: "pamm:account:17",
  mayTrade: true,
  mainPassword: MAIN,
  investorPassword: new Secret("Ghijkl2?"),
  ...own,
});

test("an account is created under the requested login, and a repetition answers that it exists", async () => {
  expect(await mt5.addUser(aUser("3000001"))).toMatchObject({ kind: "done" });
  expect(await mt5.getUser("3000001")).toEqual({
    login: "3000001",
    group: String.raw`pamm\investor`,
    name: "Zoë O'Brien-Łukasz",
    email: "zoe@example.com",
    comment: "pamm:account:17",
    rights: 0x163n,
    leverage: 100,
    balanceMinor: 0n,
    creditMinor: 0n,
    registration: expect.any(BigInt),
  });
  expect(await mt5.addUser(aUser("3000001"))).toMatchObject({ kind: "refused", code: 3004 });
});

test("checking a password returns true or false, and an unknown account is an error", async () => {
  await mt5.addUser(aUser("3000003"));
  expect(await mt5.checkPassword("3000003", MAIN)).toBe(true);
  expect(await mt5.checkPassword("3000003", new Secret("Wrong1!aa"))).toBe(false);
  await expect(mt5.checkPassword("3999999", MAIN)).rejects.toMatchObject({ problem: "retcode", retcode: 13 });
});
