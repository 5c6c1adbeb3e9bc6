import { expect, test } from "vitest";
import { answering, byPath, done } from "./testing/answering.ts";

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
const dealsOf = (...deals: object[]) =>
  byPath({ "deal/get_total": done({ total: String(deals.length) }), "deal/get_page": done(deals) });

test("a deal is read from the fields of every server version", async () => {
  const client = dealsOf(DEAL);
  expect(await client.readDeals("1", period)).toEqual([
    {
      ticket: 500n,
      login: "1",
      action: 2,
      entry: 0,
      positionId: 0n,
      symbol: "",
      volume: 0n,
      volumeClosed: 0n,
      profitMinor: 5_00n,
      swapMinor: 0n,
      commissionMinor: 0n,
      feeMinor: 0n,
      comment: "x",
      serverTimeMs: 1_767_225_600_000,
      at: new Date("2026-01-01T00:00:00Z"),
    },
  ]);
});

test("a volume is read from the extended field when it exists", async () => {
  const plain = dealsOf(TRADE);
  expect(await plain.readDeals("1", period)).toMatchObject([{ volume: 100_000_000n, volumeClosed: 50_000_000n }]);
  const fine = dealsOf({ ...TRADE, VolumeExt: "123", VolumeClosedExt: "45" });
  expect(await fine.readDeals("1", period)).toMatchObject([{ volume: 123n, volumeClosed: 45n }]);
});

test("tickets above 2^53 are exact", async () => {
  const client = dealsOf({ ...DEAL, Deal: "9007199254740993" });
  expect(await client.readDeals("1", period)).toMatchObject([{ ticket: 9007199254740993n }]);
});

test("deals are ordered by server time and then ticket, each once", async () => {
  const deals = [
    { ...DEAL, Deal: "3", TimeMsc: "2000" },
    { ...DEAL, Deal: "2", TimeMsc: "2000" },
    { ...DEAL, Deal: "9", TimeMsc: "1000" },
  ];
  const client = dealsOf(...deals);
  const read = await client.readDeals("1", period);
  expect(read.map(({ ticket }) => ticket)).toEqual([9n, 2n, 3n]);
});

test("a malformed row fails only its own account among the deals of a group, and no foreign account", async () => {
  const malformed = { ...DEAL, Login: "2", Profit: "0.005" };
  const client = byPath({
    "deal/get_batch": done([DEAL, malformed, { ...DEAL, Deal: "502", Login: "2" }, { Login: "3", Deal: "odd" }]),
  });
  const found = await client.findGroupDeals("g", period, { isAskedFor: (login) => login !== "3" });
  expect(found).toMatchObject({ kind: "read", deals: [{ ticket: 500n, login: "1" }], rows: 4 });
  expect(found).toHaveProperty("unreadable", new Set(["2"]));
});

test("deals by ticket leave out malformed rows and deals that were not asked for", async () => {
  const client = byPath({
    "deal/get_batch": done([DEAL, { ...DEAL, Deal: "501" }, { ...DEAL, Deal: "502", Profit: "NaN" }]),
  });
  expect([...(await client.findDealsByTicket([500n, 502n])).keys()]).toEqual([500n]);
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
    const client = byPath({ "deal/get_total": total!, "deal/get_page": page! });
    await expect(client.readDeals("1", period)).rejects.toMatchObject({ problem: "bad_answer" });
  }
});

test("an answer about another record is an error for every read", async () => {
  const client = byPath({
    "user/get": done({ ...USER, Login: "2" }),
    "user/get_batch": done([USER, { ...USER, Login: "2" }]),
    "deal/get": done({ ...DEAL, Deal: "501" }),
    "deal/get_batch": done([{ ...DEAL, Login: "2" }]),
    "deal/get_total": done({ Total: "1" }),
    "deal/get_page": done([{ ...DEAL, Login: "2" }]),
    "position/get_total": done({ Total: "1" }),
    "position/get_page": done([{ ...POSITION, Login: "2" }]),
  });
  for (const read of [
    () => client.getUser("1"),
    () => client.getUsers(["1"]),
    () => client.getDeal(500n),
    () => client.findDeals(["1"], period),
    () => client.readDeals("1", period),
    () => client.readPositions("1"),
  ]) {
    await expect(read()).rejects.toMatchObject({ problem: "bad_answer" });
  }
});

test("floating amounts are rounded, and booked amounts are not", async () => {
  const client = byPath({
    "position/get_total": done({ Total: "1" }),
    "position/get_page": done([POSITION]),
    "user/get": done({ ...USER, Balance: "5.001" }),
  });
  expect(await client.readPositions("1")).toMatchObject([{ profitMinor: 0n, volume: 1_000_000n }]);
  await expect(client.getUser("1")).rejects.toThrow("a Balance that cannot be read");
});

test("an odd record of one account hides no other account", async () => {
  const odd = { ...USER, Login: "2", Balance: "0.005" };
  for (const batch of [done([USER, odd]), done([odd]), '{"retcode":"3 No"}']) {
    const client = answering(({ path, query }) => {
      if (path === "user/get_batch") return batch;
      return path === "user/get" ? done(query?.["login"] === "2" ? odd : USER) : undefined;
    });
    const { users, unreadable } = await client.readUsers(["1", "2"]);
    expect([[...users.keys()], [...unreadable]]).toEqual([["1"], ["2"]]);
    await expect(client.getUsers(["1", "2"])).rejects.toThrow("record of account 2 cannot be read");
  }
});

test("a return code that is neither success nor 'not found' is an error with that code", async () => {
  const client = byPath({ "user/get": '{"retcode":"10 No connection"}' });
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "retcode", retcode: 10 });
});
