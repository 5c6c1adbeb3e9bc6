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
const day = 86_400_000;
const allTime = () => ({ from: new Date(Date.now() - 30 * day), to: new Date(Date.now() + day) });

async function move(login: string, amountMinor: bigint, own: object = {}) {
  using session = await mt5.acquireForCommand();
  const order = { login, amountMinor, comment: "TEST", checkMargin: true, mayWrite: () => true };
  return await session.changeBalance({ ...order, ...own });
}

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

test("a refused account command has the platform's code", async () => {
  const weak = { mainPassword: new Secret("weak") };
  expect(await mt5.addUser(aUser("3000002", weak))).toMatchObject({ kind: "refused", code: 3006 });
  expect(await mt5.addUser(aUser("3000002", { group: "pamm\\nowhere" }))).toMatchObject({ kind: "refused", code: 8 });
  expect(await mt5.getUser("3000002")).toBeUndefined();
});

test("checking a password returns true or false, and an unknown account is an error", async () => {
  await mt5.addUser(aUser("3000003"));
  expect(await mt5.checkPassword("3000003", MAIN)).toBe(true);
  expect(await mt5.checkPassword("3000003", new Secret("Wrong1!aa"))).toBe(false);
  await expect(mt5.checkPassword("3999999", MAIN)).rejects.toMatchObject({ problem: "retcode", retcode: 13 });
});

test("many accounts are read with one call, without those that do not exist", async () => {
  const logins = [await platform.account("1.00"), await platform.account("2.50"), "3999999"];
  const users = await mt5.getUsers(logins);
  expect(Array.from(users, ([login, { balanceMinor }]) => [login, balanceMinor])).toEqual([
    [logins[0], 1_00n],
    [logins[1], 2_50n],
  ]);
  expect((await mt5.getUsers(["3999999"])).size).toBe(0);
});

test("a server that finds nothing because one of many accounts does not exist is asked for the others", async () => {
  const logins = [await platform.account("1.00"), "3999999", await platform.account("2.50")];
  await platform.fault("user/get_batch", "retcode:13", { times: 2 });
  const users = await mt5.getUsers(logins);
  expect([...users.keys()]).toEqual([logins[0], logins[2]]);
});

test("a disabled account loses the rights to connect and to trade and keeps the others", async () => {
  await mt5.addUser(aUser("3000004"));
  expect(await mt5.disableUser("3000004")).toMatchObject({ kind: "done" });
  expect((await mt5.getUser("3000004"))?.rights).toBe(0x166n);
  expect(await mt5.disableUser("3000004")).toMatchObject({ kind: "done" });
  expect(await mt5.disableUser("3999999")).toBeUndefined();
});

test("a deposit and a withdrawal each have a ticket and a deal in the history", async () => {
  const login = await platform.account();
  const deposited = await move(login, 100_00n, { comment: "PD0F7K3M9Q2X1X CRM-2026-0001" });
  const withdrawn = await move(login, -30_05n);
  const deals = await mt5.readDeals(login, allTime());
  expect(deals.map(({ ticket, action, profitMinor, comment }) => ({ ticket, action, profitMinor, comment }))).toEqual([
    {
      ticket: (deposited as { ticket: bigint }).ticket,
      action: 2,
      profitMinor: 100_00n,
      comment: "PD0F7K3M9Q2X1X CRM-2026-0001",
    },
    { ticket: (withdrawn as { ticket: bigint }).ticket, action: 2, profitMinor: -30_05n, comment: "TEST" },
  ]);
  expect((await mt5.getUser(login))?.balanceMinor).toBe(69_95n);
});

test("a refused money command has the platform's code", async () => {
  const login = await platform.account("10.00");
  expect(await move(login, -10_01n)).toEqual({ kind: "refused", code: 10019 });
  expect(await move("3999999", 1n)).toEqual({ kind: "refused", code: 13 });
  expect(await platform.deals(login)).toHaveLength(1);
});
