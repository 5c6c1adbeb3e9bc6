import { expect, test } from "vitest";
import { advancePool, type Reading, type PoolState } from "./advance-pool.ts";
import { sumHoldings, WholePoolNeeded, withOthers } from "./pool/others.ts";
import { aDeal } from "../testing/deals.ts";
import { E8_PER_CENT, EMPTY_POOL, PoolBroken, type UnitPool } from "./pool/unit-pool.ts";

const WEEK = { anchor: new Date("2026-01-03T00:00:00Z"), periodMs: 7 * 86_400_000 };
const [MONDAY, SATURDAY, NEXT] = ["2026-01-05", "2026-01-10", "2026-01-17"].map((day) => new Date(day)) as [
  Date,
  Date,
  Date,
];

const POOL: UnitPool = {
  ...EMPTY_POOL,
  holdings: [1n, 2n].map((subscriptionId) => {
    const pooled = 100_00n;
    return { subscriptionId, units: pooled * E8_PER_CENT, pooled, waiting: 0n, unredeemed: 0n, carry: 0n };
  }),
};
const START: PoolState = { pool: POOL, arrivals: [], weeksClosedThrough: WEEK.anchor, struckDealId: 0n };
const NO_READING = { week: WEEK, reading: undefined, arePositionsKnown: true, acceptedDealsNumber: -1n, maxEvents: 10 };

function reading(closeThrough: Date): Reading {
  return { at: NEXT, marks: [], closeThrough };
}

function summaryOf({ events }: ReturnType<typeof advancePool>) {
  return events.map((event) => (event.kind === "week" ? event.cutOff : event.deal.amount));
}

test("a week is a statement to each Investor, so a part of a pool closes none", () => {
  const holdings = withOthers(POOL.holdings.slice(0, 1), sumHoldings(POOL.holdings)) ?? [];
  const part = { ...START, pool: { ...POOL, holdings } };
  const { events, stopped } = advancePool(part, [], { ...NO_READING, reading: reading(SATURDAY) });
  expect(events).toEqual([]);
  expect(stopped?.error).toBeInstanceOf(WholePoolNeeded);
});

test("a deal of a closed week is allocated and marked as late", () => {
  const { events } = advancePool(START, [aDeal({ dealAt: new Date("2026-01-02"), profit: 3n })], NO_READING);
  expect(events).toMatchObject([{ isLate: true }]);
});

test("a cancelled or out-of-order deal stops the pool, and earlier deals stay allocated", () => {
  const good = aDeal({ dealAt: MONDAY, profit: 4n, dealId: 100n });
  for (const bad of [aDeal({ dealAt: MONDAY, action: 13 }), aDeal({ dealAt: MONDAY, dealId: 99n })]) {
    const advance = advancePool({ ...START, struckDealId: 100n }, [good, bad, good], NO_READING);
    expect(summaryOf(advance)).toEqual([4n]);
    expect(advance).toMatchObject({ taken: 1, end: "stopped", stopped: { error: expect.any(PoolBroken) } });
    expect(advance.state.pool.holdings).toMatchObject([{ pooled: 100_02n }, { pooled: 100_02n }]);
  }
});

test("at most maxEvents pool events are processed at once", () => {
  const deals = [1n, 2n, 3n].map((profit) => aDeal({ dealAt: MONDAY, profit }));
  const advance = advancePool(START, deals, { ...NO_READING, maxEvents: 2 });
  expect(summaryOf(advance)).toEqual([1n, 2n]);
  expect(advance).toMatchObject({ taken: 2, end: "full" });
});

test("an arrival at a flat Master shares in later deals and not in earlier ones", () => {
  const [one, two] = POOL.holdings.map((holding) => ({ ...holding, units: 0n, pooled: 0n, waiting: 50_00n }));
  const arrival = { subscriptionId: 1n, dealId: 90n, amount: 50_00n };
  const arrivals = [
    { ...arrival, id: 1n, number: 5n },
    { ...arrival, id: 2n, number: 7n, subscriptionId: 2n },
  ];
  const state = { ...START, pool: { ...POOL, holdings: [one!, two!] }, arrivals };
  const deals = [6n, 8n].map((number) => aDeal({ dealAt: MONDAY, number, profit: 50_00n }));
  const { events, state: after } = advancePool(state, deals, NO_READING);
  expect(events).toMatchObject([
    { parts: [{ subscriptionId: 1n, amount: 50_00n }] },
    {
      parts: [
        { subscriptionId: 1n, amount: 33_33n },
        { subscriptionId: 2n, amount: 16_67n },
      ],
    },
  ]);
  expect(after).toMatchObject({ arrivals: [], struckDealId: 90n });
});

test("a deal that was made before an arrival and logged after it gives the arrival no share and does not stop the Master", () => {
  const [one] = POOL.holdings;
  const newHolding = { ...one!, subscriptionId: 3n, units: 0n, pooled: 0n, waiting: 50_00n };
  const arrivals = [{ id: 1n, subscriptionId: 3n, number: 5n, dealId: 90n, amount: 50_00n }];
  const state = { ...START, pool: { ...POOL, holdings: [...POOL.holdings, newHolding] }, arrivals };
  const deals = [
    aDeal({ dealAt: MONDAY, number: 6n, dealId: 89n, profit: 2n }),
    aDeal({ dealAt: MONDAY, number: 7n, dealId: 91n, profit: 5n }),
  ];
  const { events, state: after, stopped } = advancePool(state, deals, NO_READING);
  expect(stopped).toBeUndefined();
  expect(events).toMatchObject([
    { parts: [{ amount: 1n }, { amount: 1n }] },
    { parts: [{ amount: 2n }, { amount: 2n }, { amount: 1n }] },
  ]);
  expect(after.arrivals).toEqual([]);
});

test("a week is closed despite later unallocated deals, but not before all of its own deals are allocated", () => {
  const rules = { ...NO_READING, reading: { ...reading(SATURDAY), marks: [] } };
  const entryDeal = aDeal({ dealAt: MONDAY, entry: 0, volumeClosed: 0n });
  const beyond = [aDeal({ dealAt: NEXT, profit: 8n })];
  const early = advancePool(START, [entryDeal], { ...rules, beyond });
  expect(early).toMatchObject({ taken: 1, events: [], end: "full" });
  const next = aDeal({ dealAt: SATURDAY, positionId: 8n, profit: 4n });
  const { events, end } = advancePool(START, [entryDeal, next], { ...rules, beyond });
  expect(events).toMatchObject([{ kind: "week", cutOff: SATURDAY }, { kind: "result" }]);
  // The result that the open position realised between cut-off and reading was floating at the cut-off.
  expect(events[0]).toHaveProperty("shares", new Map([1n, 2n].map((holding) => [holding, 4n * E8_PER_CENT])));
  expect(end).toBe("full");
});

test("arrivals wait for marks while the Master may have positions that the books do not contain", () => {
  const [one] = POOL.holdings;
  const newHolding = { ...one!, subscriptionId: 3n, units: 0n, pooled: 0n, waiting: 50_00n };
  const arrivals = [{ id: 1n, subscriptionId: 3n, number: 5n, dealId: 90n, amount: 50_00n }];
  const state = { ...START, pool: { ...POOL, holdings: [...POOL.holdings, newHolding] }, arrivals };
  const deal = aDeal({ dealAt: MONDAY, number: 6n, dealId: 91n, profit: 2n });
  const advance = advancePool(state, [deal], { ...NO_READING, arePositionsKnown: false });
  expect(advance.events).toMatchObject([{ parts: [{ amount: 1n }, { amount: 1n }] }]);
  expect(advance.state.arrivals).toEqual(arrivals);
});
