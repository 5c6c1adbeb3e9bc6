import { expect, test } from "vitest";
import { startScriptedServer } from "./testing/scripted-server.ts";
import { aClient } from "./testing/test-client.ts";

const DEAL = { Deal: "500", Login: "1", Action: "2", Time: "1767225600", Profit: "5.00", Comment: "x" };
const TRADE = {
  ...DEAL,
  Action: "0",
  Entry: "1",
  PositionID: "77",
  Symbol: "EURUSD",
  Volume: "10000",
  VolumeClosed: "5000",
};
const USER = { Login: "1", Group: "g", Rights: "355", Leverage: "100", Balance: "5.00", Credit: "0.00" };
const POSITION = {
  Position: "9",
  Login: "1",
  Symbol: "EURUSD",
  Action: "0",
  PriceOpen: "1.1",
  Profit: "0.005",
  TimeCreate: "1",
  Volume: "100",
};
const period = { from: new Date(0), to: new Date("2026-01-02T00:00:00Z") };
const done = (answer: unknown) => JSON.stringify({ retcode: "0 Done", answer });

/** A platform with these answers by path. */
async function answering(answers: Readonly<Record<string, string>>) {
  const server = await startScriptedServer(({ path }) => answers[path]);
  const client = aClient(server, { timeZone: "UTC", maxSessions: 1 });
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
const dealsOf = (...deals: object[]) =>
  answering({ "deal/get_total": done({ total: String(deals.length) }), "deal/get_page": done(deals) });

test("a deal is read from the fields of every server version", async () => {
  await using platform = await dealsOf(DEAL);
  expect(await platform.client.readDeals("1", period)).toEqual([
    {
      ticket: 500n,
      login: "1",
      action: 2,
      entry: 0,
      order: 0n,
      position: 0n,
      symbol: "",
      volume: 0n,
      volumeClosed: 0n,
      price: "0",
      profitMinor: 5_00n,
      swapMinor: 0n,
      commissionMinor: 0n,
      feeMinor: 0n,
      comment: "x",
      dealer: "",
      serverTimeMs: 1_767_225_600_000,
      at: new Date("2026-01-01T00:00:00Z"),
    },
  ]);
});

test("a volume is read from the extended field when it exists", async () => {
  await using plain = await dealsOf(TRADE);
  expect(await plain.client.readDeals("1", period)).toMatchObject([
    { volume: 100_000_000n, volumeClosed: 50_000_000n },
  ]);
  await using fine = await dealsOf({ ...TRADE, VolumeExt: "123", VolumeClosedExt: "45" });
  expect(await fine.client.readDeals("1", period)).toMatchObject([{ volume: 123n, volumeClosed: 45n }]);
});

test("an invalid time or a number out of range fails the read", async () => {
  const invalid = [
    { Time: "8640000000000001" },
    { Time: "-1" },
    { TimeMsc: "9007199254740991" },
    { Action: "40000" },
    { Entry: "in" },
    { Order: "9223372036854775808" },
    { Profit: "99999999999999999.00" },
  ];
  for (const member of invalid) {
    await using platform = await dealsOf({ ...DEAL, ...member });
    await expect(platform.client.readDeals("1", period), JSON.stringify(member)).rejects.toMatchObject({
      problem: "bad_answer",
    });
  }
  await using large = await dealsOf({ ...TRADE, Volume: "999999999999999999" });
  await expect(large.client.readDeals("1", period)).rejects.toMatchObject({ problem: "bad_answer" });
});

test("tickets above 2^53 are exact", async () => {
  await using platform = await dealsOf({ ...DEAL, Deal: "9007199254740993" });
  expect(await platform.client.readDeals("1", period)).toMatchObject([{ ticket: 9007199254740993n }]);
});

test("deals are ordered by server time and then ticket, each once", async () => {
  const deals = [
    { ...DEAL, Deal: "3", TimeMsc: "2000" },
    { ...DEAL, Deal: "2", TimeMsc: "2000" },
    { ...DEAL, Deal: "9", TimeMsc: "1000" },
  ];
  await using platform = await dealsOf(...deals);
  const read = await platform.client.readDeals("1", period);
  expect(read.map(({ ticket }) => ticket)).toEqual([9n, 2n, 3n]);
});

test("a malformed deal or one of another login fails the whole read and is not left out", async () => {
  const malformed = [
    { ...DEAL, Login: "2" },
    { ...DEAL, Deal: "0" },
    { ...DEAL, Deal: "-5" },
    { ...DEAL, Deal: "9223372036854775808" },
    { ...DEAL, Profit: "0.005" },
    { ...DEAL, Profit: "NaN" },
    { ...DEAL, Profit: undefined },
    { ...DEAL, Action: "balance" },
    { ...DEAL, Time: "soon" },
    { ...DEAL, deal: "501" },
    { ...TRADE, PositionID: undefined },
    { ...TRADE, Volume: undefined },
  ];
  for (const deal of malformed) {
    await using platform = await dealsOf(deal);
    const read = platform.client.readDeals("1", period);
    await expect(read, JSON.stringify(deal)).rejects.toMatchObject({ problem: "bad_answer" });
  }
});

test("a malformed row fails only its own account among the deals of a group, and no foreign account", async () => {
  const malformed = { ...DEAL, Login: "2", Profit: "0.005" };
  await using platform = await answering({
    "deal/get_batch": done([DEAL, malformed, { ...DEAL, Deal: "502", Login: "2" }, { Login: "3", Deal: "odd" }]),
  });
  const found = await platform.client.findGroupDeals("g", period, { isAskedFor: (login) => login !== "3" });
  expect(found).toMatchObject({ kind: "read", deals: [{ ticket: 500n, login: "1" }], rows: 4 });
  expect(found).toHaveProperty("unreadable", new Set(["2"]));
});

test("a row without a readable login fails the deals of a group, because it may be of any account", async () => {
  for (const row of [{ ...DEAL, Login: undefined }, { ...DEAL, Login: "x" }, "none"]) {
    await using platform = await answering({ "deal/get_batch": done([DEAL, row]) });
    await expect(platform.client.findGroupDeals("g", period, { isAskedFor: () => true })).rejects.toMatchObject({
      problem: "bad_answer",
    });
  }
});

test("deals by ticket leave out malformed rows and deals that were not asked for", async () => {
  await using platform = await answering({
    "deal/get_batch": done([DEAL, { ...DEAL, Deal: "501" }, { ...DEAL, Deal: "502", Profit: "NaN" }]),
  });
  expect([...(await platform.client.findDealsByTicket([500n, 502n])).keys()]).toEqual([500n]);
});

test("a page that is not a list or a total that is not a number is an error", async () => {
  for (const [total, page] of [
    [done({ Total: "1" }), done({ Deal: "500" })],
    [done({ Total: "1" }), done("none")],
    [done({ Total: "1" }), '{"retcode":"1 None","answer":[{}]}'],
    [done({ Total: "many" }), done([DEAL])],
    [done({ Total: "-1" }), done([DEAL])],
    [done(["1"]), done([DEAL])],
    ['{"retcode":"0 Done","answer":{"Total":"0","total":"1"}}', done([])],
  ]) {
    await using platform = await answering({ "deal/get_total": total!, "deal/get_page": page! });
    await expect(platform.client.readDeals("1", period)).rejects.toMatchObject({ problem: "bad_answer" });
  }
});

test("an answer about another record is an error for every read", async () => {
  await using platform = await answering({
    "user/get": done({ ...USER, Login: "2" }),
    "user/get_batch": done([USER, { ...USER, Login: "2" }]),
    "deal/get": done({ ...DEAL, Deal: "501" }),
    "deal/get_batch": done([{ ...DEAL, Login: "2" }]),
    "position/get_total": done({ Total: "1" }),
    "position/get_page": done([{ ...POSITION, Login: "2" }]),
  });
  const { client } = platform;
  for (const read of [
    () => client.getUser("1"),
    () => client.getUsers(["1"]),
    () => client.getDeal(500n),
    () => client.findDeals(["1"], period),
    () => client.readPositions("1"),
  ]) {
    await expect(read()).rejects.toMatchObject({ problem: "bad_answer" });
  }
});

test("floating amounts are rounded, and booked amounts are not", async () => {
  await using platform = await answering({
    "position/get_total": done({ Total: "1" }),
    "position/get_page": done([POSITION]),
    "user/get": done({ ...USER, Balance: "5.001" }),
  });
  expect(await platform.client.readPositions("1")).toMatchObject([{ profitMinor: 0n, volume: 1_000_000n }]);
  await expect(platform.client.getUser("1")).rejects.toThrow("a Balance that cannot be read");
});

test("an odd record of one account hides no other account", async () => {
  const odd = { ...USER, Login: "2", Balance: "0.005" };
  for (const batch of [done([USER, odd]), done([odd]), '{"retcode":"3 No"}']) {
    await using server = await startScriptedServer(({ path, query }) => {
      if (path === "user/get_batch") return batch;
      return path === "user/get" ? done(query["login"] === "2" ? odd : USER) : undefined;
    });
    using client = aClient(server);
    const { users, unreadable } = await client.readUsers(["1", "2"]);
    expect([[...users.keys()], [...unreadable]]).toEqual([["1"], ["2"]]);
    await expect(client.getUsers(["1", "2"])).rejects.toThrow("record of account 2 cannot be read");
  }
});

test("a return code that is neither success nor 'not found' is an error with that code", async () => {
  await using platform = await answering({ "user/get": '{"retcode":"10 No connection"}' });
  await expect(platform.client.getUser("1")).rejects.toMatchObject({ problem: "retcode", retcode: 10 });
});

test("an account is disabled only when the answer of the platform has the new rights", async () => {
  await using platform = await answering({ "user/get": done(USER), "user/update": done(USER) });
  expect(await platform.client.disableUser("1")).toEqual({ kind: "unknown", reason: "contradictory" });
});
