import { expect, test, vi } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import type { ReadStatementRequest } from "#proto/pamm/platform/v1/platform.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aMaster, anInvestor } from "../samples/account.ts";
import {
  anAllocation,
  anEquity,
  aPerformanceDay,
  aStatement,
  aStatementLine,
  aWithdrawalPreview,
} from "../samples/history.ts";
import { AT, cents } from "../samples/values.ts";

const INVESTOR = "/api/v1/info/investor/3000003";
const PERIOD = "from=2026-01-01T00:00:00&to=2026-02-01T00:00:00";
const accounts = { findInvestor: async () => anInvestor() };
const unavailable = () =>
  Promise.reject(new Refusal({ code: "service_unavailable", status: "unavailable", message: "down" }));

/** Two pages of one line, each of 1.00. */
async function readTwoPages({ after }: ReadStatementRequest) {
  const number = (after?.number ?? 0n) + 1n;
  const balance = (after?.balance?.minorUnits ?? 0n) + 1_00n;
  return aStatement({
    opening: { number: number - 1n, balance: cents(balance - 1_00n) },
    closing: { number, balance: cents(balance) },
    lines: [aStatementLine(number, 1_00n, balance)],
    hasMore: number === 1n,
  });
}

test("the pages of a statement continue one another", async () => {
  const { call } = await testEdge({ accounts, platform: { readStatement: readTwoPages } });
  const url = `${INVESTOR}/statement?${PERIOD}&limit=1`;
  const first = (await call({ url })).body as Record<string, unknown>;
  expect(first).toMatchObject({ opening_balance: 0, closing_balance: 1, has_more: true });
  const { body } = await call({ url: `${url}&cursor=${String(first["next_cursor"])}` });

  expect(body).toMatchObject({ opening_balance: 1, closing_balance: 2, has_more: false, next_cursor: null });
});

test("a statement is one file of all pages for those who ask for it, and JSON for the others", async () => {
  const { call } = await testEdge({ accounts, platform: { readStatement: readTwoPages } });
  const get = (query: string, headers = {}) => call({ url: `${INVESTOR}/statement?${PERIOD}${query}`, headers });
  const file = await get("&format=csv");

  expect(file).toMatchObject({
    status: 200,
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": 'attachment; filename="statement-3000003-2026-01-01-2026-02-01.csv"',
    },
  });
  const at = "2026-01-02T03:04:05.678000";
  expect(file.text.split("\r\n")).toEqual([
    "number,booked_at,deal_at,kind,amount,balance,currency,deal_id,mt5_transfer_id,operation_id,comment",
    ",2026-01-01T00:00:00.000000,,opening_balance,,0,USD,,,,",
    `1,${at},${at},deposit,1,1,USD,1234567,77,0198c0de-0000-7000-8000-000000000001,CRM-1`,
    `2,${at},${at},deposit,1,2,USD,1234567,77,0198c0de-0000-7000-8000-000000000001,CRM-1`,
    ",2026-02-01T00:00:00.000000,,closing_balance,,2,USD,,,,",
    "",
  ]);
  for (const accept of ["text/csv", "application/json;q=0.5, text/csv"]) {
    expect((await get("", { accept })).text, accept).toBe(file.text);
  }
  for (const headers of [{ accept: "*/*" }, { accept: "text/csv;q=0.1, application/json" }, {}]) {
    const answer = await get("", headers);
    expect([answer.headers["content-type"], answer.headers["vary"]]).toEqual([
      "application/json; charset=utf-8",
      "accept",
    ]);
  }
});

test("a period has a length, and that of a statement at most 366 days", async () => {
  const edge = await testEdge();
  const errors = async (query: string) => errorsOf(await edge.call({ url: `${INVESTOR}/statement?${query}` }));
  expect(await errors("from=2026-01-01T00:00:00&to=2026-01-01T00:00:00")).toEqual([["to", "out_of_range"]]);
  expect(await errors("from=2026-01-01T00:00:00&to=2027-01-03T00:00:00")).toEqual([["to", "out_of_range"]]);
  expect(await errors("from=x")).toEqual([
    ["to", "required"],
    ["from", "malformed"],
  ]);
});

test("a deal that was amended after its result was allocated is shown as such", async () => {
  const edge = await testEdge({
    accounts,
    subscriptions: { listInvestorAllocations: async () => ({ items: [anAllocation()], next: undefined }) },
    platform: {
      findAmendments: async () => ({
        amendments: [{ dealId: 1_234_567n, reason: "deal_changed", foundAt: AT, corrected: cents(-10_50n) }],
      }),
    },
  });
  expect((await edge.call({ url: `${INVESTOR}/allocations` })).body).toMatchObject({
    items: [{ correction: { kind: "deal_changed", found_at: "2026-01-02T03:04:05.678000", amount: -10.5 } }],
    has_more: false,
  });
});

const funding = { previewWithdraw: async () => aWithdrawalPreview(970_00n) };

test("an equity that changes while it is read is read again", async () => {
  const balances = [1_000_00n, 900_00n, 900_00n];
  const edge = await testEdge({
    subscriptions: { getEquity: async () => anEquity({ balance: cents(balances.shift() ?? 0n) }) },
    funding,
  });
  expect((await edge.call({ url: `${INVESTOR}/equity` })).body).toMatchObject({
    balance: 900,
    equity: 1350,
    free_to_withdraw: 970,
    withdrawal_blocked_by: [],
  });
});

test("nothing is shown of an equity that keeps changing, or without its service", async () => {
  let minor = 0n;
  const changing = { getEquity: async () => anEquity({ balance: cents((minor += 1n)) }) };
  const edge = await testEdge({ subscriptions: changing, funding });
  const busy = await edge.call({ url: `${INVESTOR}/equity` });
  expect([busy.status, busy.body]).toMatchObject([409, { code: "allocation_in_progress" }]);

  const without = await testEdge({
    subscriptions: { getEquity: unavailable },
    funding,
  });
  const answer = await without.call({ url: `${INVESTOR}/equity` });
  expect([answer.status, answer.body]).toMatchObject([503, { code: "service_unavailable" }]);
});

test("a share of a loss is rounded to the nearest cent, half up", async () => {
  const holding = { ...anEquity().holding!, floatingE8: -12_345_678n };
  const edge = await testEdge({
    subscriptions: { getEquity: async () => anEquity({ holding }) },
    funding,
  });
  expect((await edge.call({ url: `${INVESTOR}/equity` })).body).toMatchObject({
    floating_share: -0.12,
    equity: 999.88,
  });
});

test("free_when_flat is what a withdrawal would pay if the positions closed now, and 0 while anything else blocks it", async () => {
  const freeOf = async (floatingE8: bigint, quarantined: bigint, ...codes: string[]) => {
    const holding = { ...anEquity().holding!, floatingE8 };
    // A fifth of what floats, as a result.
    const realised = floatingE8 / 1_000_000n;
    const feeWhenFlat = cents(realised < -675_00n ? 0n : 135_00n + realised / 5n);
    const equity = anEquity({ holding, quarantined: cents(quarantined), feeWhenFlat });
    const edge = await testEdge({
      subscriptions: { getEquity: async () => equity },
      funding: { previewWithdraw: async () => aWithdrawalPreview(1_000_00n, ...codes) },
    });
    const { free_to_withdraw: now, free_when_flat: flat } = (await edge.call({ url: `${INVESTOR}/equity` }))
      .body as Record<string, unknown>;
    return [now, flat];
  };
  const open = "master_open_positions";
  expect(await freeOf(450_00_000_000n, 0n, open)).toEqual([0, 1_225]);
  expect(await freeOf(-600_00_000_000n, 0n, open)).toEqual([0, 385]);
  expect(await freeOf(-990_00_000_000n, 0n, open)).toEqual([0, 10]);
  expect(await freeOf(-1_990_00_000_000n, 0n, open)).toEqual([0, 0]);
  expect(await freeOf(450_00_000_000n, 15_00n, open)).toEqual([0, 1_210]);
  expect(await freeOf(450_00_000_000n, -15_00n, open)).toEqual([0, 1_225]);
  expect(await freeOf(450_00_000_000n, 0n, open, "investor_deficit")).toEqual([0, 0]);
  expect(await freeOf(0n, 0n)).toEqual([1_000, 1_000]);
});

const PERFORMANCE = "/api/v1/info/master/3000001/performance";
const masters = { findMaster: async () => aMaster() };

async function performanceOf(openingValue: string, ...days: readonly Parameters<typeof aPerformanceDay>[0][]) {
  const edge = await testEdge({
    accounts: masters,
    subscriptions: {
      listPerformance: async () => ({
        days: days.map((day) => aPerformanceDay(day)),
        openingValue,
        hasMore: false,
        maxDrawdownPpm: 0,
      }),
    },
    fees: { sumPaymentCredits: async () => ({ days: [{ day: "2026-01-09", amount: cents(1_00n) }] }) },
  });
  const { body } = await edge.call({ url: `${PERFORMANCE}?from=2026-01-01&to=2026-02-01` });
  const { time_weighted_return: total, points } = body as {
    time_weighted_return: number | null;
    points: { change: number | null }[];
  };
  return [total, ...points.map(({ change }) => change)];
}

const ONE = "1000000000000000000";
const LOST = { day: "2026-01-05", value: "0", lowest: "0" };
const ANEW = { day: "2026-01-07", value: "1100000000000000000", lowest: ONE };

test("a period that contains a total loss has the return -1 whatever came afterwards, and the capital after it one of its own", async () => {
  expect(await performanceOf(ONE, LOST, ANEW)).toEqual([-1, -1, 0.1, 0]);
  expect(await performanceOf("", LOST)).toEqual([-1, -1, null]);
  // The loss and what came afterwards on the same day, and the days after it.
  expect(
    await performanceOf(ONE, { ...ANEW, lowest: "0" }, { ...ANEW, day: "2026-01-08", value: "2200000000000000000" }),
  ).toEqual([-1, -1, 1, 0]);
  expect(await performanceOf("0", ANEW)).toEqual([0.1, 0.1, 0]);
  expect(await performanceOf("0")).toEqual([null, null]);
  expect(await performanceOf("0", LOST)).toEqual([-1, -1, null]);
});

test("a period of performance that names no end is that of the last 30 days, today included, of either clock", async () => {
  const edge = await testEdge({
    accounts: masters,
    subscriptions: {
      listPerformance: async () => ({ days: [], openingValue: "", hasMore: false, maxDrawdownPpm: 0 }),
    },
    fees: { sumPaymentCredits: async () => ({ days: [] }) },
  });
  const periodOf = async (query: string) => {
    const { from, to } = (await edge.call({ url: `${PERFORMANCE}${query}` })).body as Record<string, string>;
    return [from, to];
  };
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-31T22:30:00Z") });
  try {
    expect(await periodOf("")).toEqual(["2026-01-02", "2026-02-01"]);
    expect(await periodOf("?day=server")).toEqual(["2026-01-03", "2026-02-02"]);
    expect(await periodOf("?to=2026-03-01")).toEqual(["2026-01-30", "2026-03-01"]);
    expect(await periodOf("?from=2026-01-15")).toEqual(["2026-01-15", "2026-02-01"]);
    expect(errorsOf(await edge.call({ url: `${PERFORMANCE}?from=2025-01-01` }))).toEqual([["from", "out_of_range"]]);
    expect(errorsOf(await edge.call({ url: `${PERFORMANCE}?from=2026-02-01` }))).toEqual([["from", "out_of_range"]]);
    expect(errorsOf(await edge.call({ url: `${PERFORMANCE}?from=2025-01-01&to=2026-01-03` }))).toEqual([
      ["to", "out_of_range"],
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("with day=server days are those of the trade server, through both changes of daylight saving", async () => {
  const edge = await testEdge({
    accounts: { ...accounts, ...masters },
    platform: { readStatement: async () => aStatement() },
    subscriptions: {
      listPerformance: async () => ({ days: [], openingValue: "", hasMore: false, maxDrawdownPpm: 0 }),
      listResults: async () => ({ items: [], hasMore: false }),
      listInvestorAllocations: async () => ({ items: [], next: undefined }),
    },
    fees: { sumPaymentCredits: async () => ({ days: [] }) },
  });
  const askedBy = async (method: string, url: string) => {
    await edge.call({ url });
    const { from, to } = edge.calls.findLast((call) => call.method === method)!.request as { from: Date; to: Date };
    return [from.toISOString(), to.toISOString()];
  };
  const march = ["2026-02-28T22:00:00.000Z", "2026-03-31T21:00:00.000Z"];
  const instants = "day=server&from=2026-03-01T00:00:00&to=2026-04-01T00:00:00";
  expect(await askedBy("sumPaymentCredits", `${PERFORMANCE}?day=server&from=2026-03-01&to=2026-04-01`)).toEqual(march);
  expect(edge.calls.find(({ method }) => method === "listPerformance")!.request).toMatchObject({
    from: "2026-03-01",
    to: "2026-04-01",
    serverDays: true,
  });
  expect(await askedBy("readStatement", `${INVESTOR}/statement?${instants}`)).toEqual(march);
  expect(await askedBy("readStatement", `${INVESTOR}/statement?${instants.replaceAll("T", "t")}`)).toEqual(march);
  expect(await askedBy("readStatement", `${INVESTOR}/statement?${instants}&format=csv`)).toEqual(march);
  expect(await askedBy("listResults", `/api/v1/info/master/3000001/results?${instants}`)).toEqual(march);
  expect(await askedBy("listInvestorAllocations", `${INVESTOR}/allocations?${instants}`)).toEqual(march);
  expect(
    await askedBy("readStatement", `${INVESTOR}/statement?${instants.replaceAll("00:00:00", "00:00:00Z")}`),
  ).toEqual(["2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"]);
  const file = await edge.call({ url: `${INVESTOR}/statement?${instants}&format=csv` });
  expect(file.headers["content-disposition"]).toContain("statement-3000003-2026-03-01-2026-04-01.csv");
  // 366 days of the clock, in which one hour more has passed.
  const year = "day=server&from=2027-10-30T00:00:00&to=2028-10-30T00:00:00";
  expect((await edge.call({ url: `${INVESTOR}/statement?${year}` })).status).toBe(200);
});

test("a time of the trade server is in UTC from 1970 to 9999, as any other; its days begin at the first one", async () => {
  const subscriptions = {
    listPerformance: async () => ({ days: [], openingValue: "", hasMore: false, maxDrawdownPpm: 0 }),
  };
  const fees = { sumPaymentCredits: async () => ({ days: [] }) };
  const ahead = await testEdge({ accounts: masters, subscriptions, fees, app: { timeZone: "Europe/Athens" } });
  const early = "day=server&from=1970-01-01T00:00:00&to=1970-02-01T00:00:00";
  expect(errorsOf(await ahead.call({ url: `${INVESTOR}/statement?${early}` }))).toEqual([["from", "out_of_range"]]);
  const firstDays = `${PERFORMANCE}?day=server&from=1970-01-01&to=1970-02-01`;
  expect((await ahead.call({ url: firstDays })).status).toBe(200);

  const behind = await testEdge({ app: { timeZone: "America/New_York" } });
  const late = "day=server&from=9999-12-01T00:00:00&to=9999-12-31T23:00:00";
  expect(errorsOf(await behind.call({ url: `${INVESTOR}/statement?${late}` }))).toEqual([["to", "out_of_range"]]);
});

test("the days of a server whose zone the operator has not named are refused", async () => {
  const edge = await testEdge({ app: { timeZone: "" } });
  for (const url of [`${PERFORMANCE}?day=server`, `${INVESTOR}/statement?${PERIOD}&day=server`]) {
    expect(errorsOf(await edge.call({ url }))).toEqual([["day", "unknown_value"]]);
  }
});
