import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mt5Client } from "./client.ts";
import { effectOf } from "./deals.ts";
import { type PlatformServer, startPlatformServer } from "./testing/platform-server.ts";
import { sendOnce } from "./testing/test-client.ts";

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

const day = 86_400_000;
const allTime = () => ({ from: new Date(Date.now() - 30 * day), to: new Date(Date.now() + day) });

test("deal times are converted from the server's wall clock, and periods are in UTC", async () => {
  const login = await platform.account();
  const before = Date.now();
  const outcome = await sendOnce(mt5, { login, amountMinor: 1_00n });
  const [deal] = await mt5.readDeals(login, { from: new Date(before), to: new Date() });
  expect(Math.abs((deal?.at.getTime() ?? 0) - before)).toBeLessThan(1_800_000);
  expect(deal?.serverTimeMs).toBeGreaterThan(before + 3_600_000);
  const ticket = outcome.kind === "applied" ? outcome.ticket : 0n;
  expect(await mt5.getDeal(ticket)).toEqual(deal);
  expect(await mt5.getDeal(999_999_999n)).toBeUndefined();
  expect(await mt5.readDeals(login, { from: new Date(before - 2 * day), to: new Date(before - day) })).toEqual([]);
});

test("a history of more than one page is read whole and in order", async () => {
  const login = await platform.account();
  const body = { login: Number(login), profit: "1.00", swap: "-0.10", commission: "-0.05" };
  for (let count = 0; count < 55; count += 1) await platform.control("POST", "results", body);
  const deals = await mt5.readDeals(login, allTime());
  const shown = await platform.deals(login);
  expect(shown.length).toBeGreaterThan(100);
  expect(deals.map(({ ticket }) => Number(ticket))).toEqual(shown.map(({ deal }) => deal));
  const sum = deals.reduce((total, deal) => total + effectOf(deal), 0n);
  expect(sum).toBe((await mt5.getUser(login))?.balanceMinor);
});

test("a batch above the server's limit is halved, and a single login is read page by page", async () => {
  const logins = [await platform.account("1.00"), await platform.account("2.00"), await platform.account("3.00")];
  // Batches of all three logins, of the first two, and of the first one.
  await platform.fault("deal/get_batch", "retcode:3007", { times: 3 });
  const deals = await mt5.findDeals(logins, allTime());
  expect(deals.map(({ login, profitMinor }) => [login, profitMinor])).toEqual([
    [logins[0], 1_00n],
    [logins[1], 2_00n],
    [logins[2], 3_00n],
  ]);
  const { calls } = await platform.control<{ calls: Record<string, number> }>("GET", "stats");
  expect(calls["deal/get_batch"]).toBeGreaterThanOrEqual(5);
});

const isAny = () => true;

test("deals of a group are found with one request; rows of accounts that are not asked for only count", async () => {
  const logins = [await platform.account("1.00"), await platform.account("2.00")];
  const found = await mt5.findGroupDeals("pamm\\investor", allTime(), {
    isAskedFor: (login) => login === logins[1],
  });
  if (found.kind !== "read") throw new Error(found.kind);
  expect(found.deals.map(({ login, profitMinor }) => [login, profitMinor])).toEqual([[logins[1], 2_00n]]);
  expect(found.rows).toBeGreaterThanOrEqual(2);
  expect(await mt5.findGroupDeals("pamm\\investor2", allTime(), { isAskedFor: isAny })).toMatchObject({ rows: 0 });
});

test("a refused selection by group is distinguished from a limit and from a failure", async () => {
  const find = () => mt5.findGroupDeals("pamm\\investor", allTime(), { isAskedFor: isAny });
  for (const code of [3, 8, 13, 12_000, 12_002]) {
    await platform.fault("deal/get_batch", `retcode:${code}`, { parameter: "group" });
    expect(await find()).toMatchObject({ kind: "refused", reason: expect.stringMatching(new RegExp(`^${code} `)) });
  }
  await platform.fault("deal/get_batch", "http:403", { parameter: "group", times: 2 });
  expect(await find()).toMatchObject({ kind: "refused" });
  await platform.fault("deal/get_batch", "retcode:3007", { parameter: "group" });
  expect(await find()).toEqual({ kind: "too_many" });
  await platform.fault("deal/get_batch", "retcode:10", { parameter: "group" });
  await expect(find()).rejects.toMatchObject({ problem: "retcode", retcode: 10 });
  await platform.fault("deal/get_batch", "http:500", { parameter: "group" });
  await expect(find()).rejects.toMatchObject({ problem: "http_status" });
});

test("deals are found by their tickets, and a server that does not select so shows none", async () => {
  const [one, two] = [await platform.account("1.00"), await platform.account("2.00")];
  const tickets = (await mt5.findDeals([one, two], allTime())).map(({ ticket }) => ticket);
  const found = await mt5.findDealsByTicket([...tickets, 999_999_999n]);
  expect([...found].map(([ticket, { login }]) => [ticket, login])).toEqual([
    [tickets[0], one],
    [tickets[1], two],
  ]);
  await platform.fault("deal/get_batch", "retcode:3", { parameter: "ticket" });
  expect(await mt5.findDealsByTicket(tickets)).toEqual(new Map());
});

test("the logins of a group are listed by its exact name", async () => {
  const login = await platform.account();
  expect(await mt5.listGroupLogins("pamm\\investor")).toContain(login);
  expect(await mt5.listGroupLogins("pamm\\master")).not.toContain(login);
  await platform.fault("user/logins", "retcode:8");
  expect(await mt5.listGroupLogins("pamm\\investor")).toBeUndefined();
});

test("open positions and the account state are in the same units", async () => {
  const login = await platform.account("10000.00");
  expect(await mt5.readPositions(login)).toEqual([]);
  await platform.control("POST", "prices", { symbol: "EURUSD", bid: "1.10000", ask: "1.10010" });
  const opened = await platform.control<{ position: number }>("POST", "positions", {
    login: Number(login),
    symbol: "EURUSD",
    side: "buy",
    volume: "0.50",
  });
  await platform.control("POST", "prices", { symbol: "EURUSD", bid: "1.10110", ask: "1.10120" });
  expect(await mt5.readPositions(login)).toMatchObject([
    { ticket: BigInt(opened.position), login, symbol: "EURUSD", volume: 50_000_000n, profitMinor: 50_00n },
  ]);
  const other = await platform.account();
  const found = await mt5.findPositions([other, login]);
  expect(found).toEqual(
    new Map([
      [other, []],
      [login, await mt5.readPositions(login)],
    ]),
  );
  await platform.fault("position/get_batch", "retcode:13");
  expect(await mt5.findPositions([login])).toBeUndefined();
  for (const refused of [3, 3007, 12000]) {
    await platform.fault("position/get_batch", `retcode:${refused}`);
    expect(await mt5.findPositions([login])).toBeUndefined();
  }
  const deals = await mt5.readDeals(login, allTime());
  expect(deals.at(-1)).toMatchObject({ action: 0, entry: 0, positionId: BigInt(opened.position), volume: 50_000_000n });
});
