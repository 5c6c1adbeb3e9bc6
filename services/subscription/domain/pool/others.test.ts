import fc from "fast-check";
import { expect, test } from "vitest";
import { anEvent, applyAll, type PoolEvent } from "../../testing/pool-history.ts";
import { holdingOf, withDeposit } from "../../testing/pools.ts";
import { checkPool } from "./check-pool.ts";
import { poolEquity, valueOfUnits } from "./equity.ts";
import { inPart, isOthers, sumHoldings, WholePoolNeeded, withOthers } from "./others.ts";
import { raiseNegative } from "./raise-negative.ts";
import { shareResult } from "./share-result.ts";
import { strikeFlatPool, strikePool } from "./strike-pool.ts";
import { EMPTY_POOL, type UnitHolding, type UnitPool } from "./unit-pool.ts";
import { allHoldings, totalUnits } from "./units.ts";
import { takeOut, takeOutFlat } from "./take-out.ts";

/** One history in a hundred needs the whole pool: so many that some do. */
const RUNS = 1_000;
const FLATTEN: PoolEvent = { kind: "flatten" };
const STRIKE: PoolEvent = { kind: "strike" };

const aFlow = fc.record({
  subscriptionId: fc.bigInt(1n, 6n),
  percent: fc.constantFrom(-100n, -40n, -1n, 1n, 60n, 20_000n),
});
type Change = {
  readonly events: readonly PoolEvent[];
  readonly isStruck: boolean;
  readonly flows: readonly { readonly subscriptionId: bigint; readonly percent: bigint }[];
};
const aChange: fc.Arbitrary<Change> = fc.record({
  events: fc.array(anEvent, { minLength: 5, maxLength: 40 }),
  isStruck: fc.boolean(),
  flows: fc.array(aFlow, { maxLength: 3 }),
});

/** A flat pool with flows; unless it is struck, also those that came while positions were open. */
function aFlatPool({ events, isStruck, flows }: Change): UnitPool {
  const { pool } = applyAll([...events, FLATTEN, ...(isStruck ? [STRIKE] : [])]);
  return flows.reduce((before, { subscriptionId, percent }) => {
    const { pooled } = holdingOf(before, subscriptionId);
    if (percent > 0n) return withDeposit(before, subscriptionId, percent);
    return pooled <= 0n ? before : takeOut(before, subscriptionId, (pooled * -percent) / 100n);
  }, pool);
}

/** What is loaded of a pool: the holdings with flows and those of these subscriptions. */
function partOf(pool: UnitPool, ids: readonly bigint[] = []): UnitPool | undefined {
  const loaded = pool.holdings.filter(
    ({ waiting, unredeemed, subscriptionId }) => waiting > 0n || unredeemed > 0n || ids.includes(subscriptionId),
  );
  const holdings = withOthers(loaded, sumHoldings(pool.holdings));
  return holdings && { ...pool, holdings };
}

type Counts = { same: number; whole: number };

/** The change of the part is that of the whole pool, or it is known that the whole is needed. */
function expectSame(
  pool: UnitPool,
  ids: readonly bigint[],
  change: (pool: UnitPool) => UnitPool,
  counts: Counts,
): void {
  const part = partOf(pool, ids);
  const changed = part && inPart(() => change(part));
  if (part === undefined || changed === undefined) {
    counts.whole += 1;
    return;
  }
  const whole = change(pool);
  counts.same += 1;
  checkPool(changed);
  const known = new Set(part.holdings.map(({ subscriptionId }) => subscriptionId));
  const now = new Map(whole.holdings.map((holding) => [holding.subscriptionId, holding]));
  const merged: UnitHolding[] = [
    ...changed.holdings.filter((holding) => !isOthers(holding)),
    ...pool.holdings.filter(({ subscriptionId }) => !known.has(subscriptionId)),
  ];
  expect(new Map(merged.map((holding) => [holding.subscriptionId, holding]))).toEqual(now);
  expect(changed.holdings.filter(isOthers)).toEqual(part.holdings.filter(isOthers));
  expect(changed.own).toEqual(whole.own);
  expect(sumHoldings(changed.holdings)).toEqual(sumHoldings(whole.holdings));
  expect([poolEquity(changed), valueOfUnits(changed), totalUnits(allHoldings(changed))]).toEqual([
    poolEquity(whole),
    valueOfUnits(whole),
    totalUnits(allHoldings(whole)),
  ]);
}

function afterEvery(check: (pool: UnitPool, counts: Counts) => void): Counts {
  const counts = { same: 0, whole: 0 };
  fc.assert(
    fc.property(aChange, (change) => {
      const pool = aFlatPool(change);
      expect(pool.positions).toEqual([]);
      check(pool, counts);
    }),
    { numRuns: RUNS },
  );
  return counts;
}

test("a flat pool is struck by the holdings with flows and the sums of the others as with all its holdings", () => {
  const { same, whole } = afterEvery((pool, counts) => {
    expectSame(pool, [], (before) => strikePool(before, []), counts);
    const outflows = (before: UnitPool): UnitPool => strikeFlatPool(before, { ownOutflow: before.own.unredeemed });
    expectSame(pool, [], outflows, counts);
  });
  expect(same).toBeGreaterThan(RUNS / 2);
  expect(whole).toBeGreaterThan(0);
});

test("Investors take money out of a flat pool, or leave it, as with all its holdings", () => {
  const { same, whole } = afterEvery((pool, counts) => {
    for (const { subscriptionId, pooled } of pool.holdings) {
      if (pooled < 0n) continue;
      for (const [amount, isLast] of [
        [pooled, true],
        [pooled, false],
        [pooled / 3n, false],
      ] as const) {
        expectSame(
          pool,
          [subscriptionId],
          (before) => takeOutFlat(before, [{ subscriptionId, amount, isLast }]),
          counts,
        );
      }
    }
  });
  expect(same).toBeGreaterThan(whole);
  expect(whole).toBeGreaterThan(0);
});

test("the sums of a pool do not change with money that joins or leaves until it is struck", () => {
  afterEvery((pool) => {
    const sums = sumHoldings(pool.holdings);
    for (const { subscriptionId, pooled } of pool.holdings) {
      expect(sumHoldings(withDeposit(pool, subscriptionId, 7n).holdings)).toEqual(sums);
      if (pooled > 0n) expect(sumHoldings(takeOut(pool, subscriptionId, pooled).holdings)).toEqual(sums);
    }
  });
});

const HOLDING = { units: 100n, pooled: 100n, waiting: 0n, unredeemed: 0n, carry: 0n };

test("a part is not loaded while a strike takes units of holdings without flows", () => {
  const others = (pooled: readonly bigint[]) =>
    pooled.map((each, index) => ({ ...HOLDING, subscriptionId: BigInt(index), pooled: each }));
  const [first] = others([7n]);
  expect(withOthers([first!], sumHoldings(others([7n, 5n, 6n])))).toHaveLength(2);
  expect(withOthers([first!], sumHoldings(others([7n, 5n, 0n])))).toBeUndefined();
  expect(withOthers([first!], sumHoldings(others([7n, 5n, -5n])))).toBeUndefined();
  expect(withOthers([first!], sumHoldings(others([7n])))).toEqual([first]);
});

test("a part of a pool takes no result, and raises nothing below zero", () => {
  const holdings = [1n, 2n, 3n].map((subscriptionId) => ({ ...HOLDING, subscriptionId }));
  const part = { ...EMPTY_POOL, holdings: withOthers(holdings.slice(0, 1), sumHoldings(holdings)) ?? [] };
  expect(() => shareResult(part, 1n, undefined)).toThrow(WholePoolNeeded);
  expect(() => raiseNegative(part, 1n)).toThrow(WholePoolNeeded);
});
