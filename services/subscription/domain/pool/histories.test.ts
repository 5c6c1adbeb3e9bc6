import fc from "fast-check";
import { expect, test } from "vitest";
import { anEvent, applyEvent, applyAll, type AppliedEvent, type PoolEvent } from "../../testing/pool-history.ts";
import { checkPool } from "./check-pool.ts";
import { accruedIn } from "./accruals.ts";
import { equityOf, equityOfHolding, netAssetValue } from "./equity.ts";
import { allHoldings, totalUnits } from "./units.ts";
import { holdingOf } from "../../testing/pools.ts";
import { sumOf } from "./rounding.ts";
import { CENT_TOLERANCE } from "./share-result.ts";
import { attributeValued } from "./strike-pool.ts";
import { E8_PER_CENT, type UnitPool } from "./unit-pool.ts";

/** Carries that holdings without units pass on, and what a compensation is rounded by, less than a cent from each, are not part of a share. */
const PASSED_ON = 5n * E8_PER_CENT;
const RUNS = 250;

const aHistory = fc.array(anEvent, { minLength: 10, maxLength: 60 });

function afterEveryEvent(check: (applied: AppliedEvent) => void): void {
  fc.assert(
    fc.property(aHistory, (events) => {
      applyAll(events, check);
    }),
    { numRuns: RUNS },
  );
}

test("no cent is created or lost, and the books stay consistent", () => {
  afterEveryEvent(({ before, after, cash }) => {
    checkPool(after.pool);
    expect(cashIn(after.pool) - cashIn(before.pool)).toBe(cash);
  });
});

test("a compensation first raises what is below zero, never above it, and the rest is a result", () => {
  afterEveryEvent(({ before, raised, cash }) => {
    if (raised === undefined) return;
    const isWhole = raised.total < cash;
    for (const { subscriptionId, pooled } of allHoldings(before.pool)) {
      const now = holdingOf(raised.pool, subscriptionId).pooled;
      const value = cashWhenClosed(raised.pool, subscriptionId);
      if (cashWhenClosed(before.pool, subscriptionId) >= 0n) expect(now).toBe(pooled);
      else expect(now === pooled || (now > pooled && value < E8_PER_CENT)).toBe(true);
      if (isWhole) expect(value >= -CENT_TOLERANCE).toBe(true);
    }
    expect(sumOf([...raised.raised.map(({ amount }) => amount), raised.own])).toBe(raised.total);
  });
});

test("a holding owns the share of the pool's value that its units represent, whatever has happened", () => {
  afterEveryEvent(checkShares);
});

test("a compensation also raises whose cash is above zero when what floats is lost", () => {
  applyAll(
    [
      { kind: "deposit", subscriptionId: 1n, amount: 1n },
      opened(2n),
      opened(1n),
      { kind: "compensate", amount: 237_02n },
      { kind: "prices", floating: [0n, -1_057_18n, 0n] },
      { kind: "compensate", amount: 820_17n },
      { kind: "strike" },
      { ...opened(1n), result: -22n },
      { kind: "deposit", subscriptionId: 1n, amount: 1n },
      { kind: "compensate", amount: 21n },
      { kind: "strike" },
      { kind: "strike" },
      opened(1n),
      { kind: "takeOut", subscriptionId: 1n, percent: 1n },
      { kind: "strike" },
      opened(1n),
      { kind: "strike" },
      { kind: "strike" },
    ],
    checkShares,
  );
});

function opened(positionId: bigint): PoolEvent & { kind: "deal" } {
  return { kind: "deal", deal: "entry", positionId, volume: 1n, result: 0n };
}

/** While units are worth nothing, no holding has a share. */
function checkShares({ after: { pool } }: AppliedEvent): void {
  const accrued = accruedIn(pool);
  const all = allHoldings(pool);
  const [units, value] = [totalUnits(all), netAssetValue(all, accrued)];
  if (value <= 0n) return;
  for (const holding of all.filter((each) => each.units > 0n)) {
    const own = equityOfHolding(holding, accrued) + holding.unredeemed * E8_PER_CENT;
    expect(distance(own, (holding.units * value) / units) < PASSED_ON).toBe(true);
  }
}

test("the order of the stored rows does not matter", () => {
  afterEveryEvent(({ before, after, event }) => {
    const { pool } = before;
    const reversed = { ...pool, positions: pool.positions.toReversed(), accruals: pool.accruals.toReversed() };
    const [repeated] = applyEvent({ ...before, pool: reversed }, event);
    if (event.kind === "flatten") return;
    expect(inOrder(repeated?.after.pool ?? pool)).toEqual(inOrder(after.pool));
  });
});

/** Its cash in e8 if all positions closed as they were valued last; a carry is not cash yet. */
function cashWhenClosed(pool: UnitPool, subscriptionId: bigint): bigint {
  return equityOf(attributeValued(pool), subscriptionId) - holdingOf(pool, subscriptionId).carry;
}

function cashIn(pool: UnitPool): bigint {
  return sumOf(allHoldings(pool).map((holding) => holding.pooled + holding.waiting));
}

function inOrder(pool: UnitPool): UnitPool {
  const key = (row: { positionId: bigint; subscriptionId?: bigint }): string =>
    `${row.positionId}/${row.subscriptionId ?? ""}`;
  const sorted = <Row extends Parameters<typeof key>[0]>(rows: readonly Row[]): Row[] =>
    rows.toSorted((left, right) => (key(left) < key(right) ? -1 : 1));
  return { ...pool, positions: sorted(pool.positions), accruals: sorted(pool.accruals) };
}

function distance(left: bigint, right: bigint): bigint {
  return left < right ? right - left : left - right;
}
