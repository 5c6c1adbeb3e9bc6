import { expect, test } from "vitest";
import { aMark, aPool, after, struck, withDeposit } from "../testing/pools.ts";
import { equityOf, netAssetValue } from "./pool/equity.ts";
import { accruedIn } from "./pool/accruals.ts";
import { floatingShares } from "./pool/floating-shares.ts";
import { markPositions } from "./pool/strike-pool.ts";
import { E8_PER_CENT, OWN_CAPITAL, type UnitPool } from "./pool/unit-pool.ts";
import { allHoldings, totalUnits } from "./pool/units.ts";
import { type HoldingFacts, valueHolding } from "./holding-value.ts";

/** What the service reads of a pool for one of its holdings. */
function factsOf(pool: UnitPool, subscriptionId: bigint): HoldingFacts {
  const all = allHoldings(pool);
  const sharing = all.filter(({ units }) => units > 0n);
  const without = new Set(all.filter(({ units }) => units === 0n).map((each) => each.subscriptionId));
  const sum = (amounts: readonly bigint[]) => amounts.reduce((left, right) => left + right, 0n);
  return {
    holding: all.find((each) => each.subscriptionId === subscriptionId)!,
    positions: pool.positions,
    accruals: pool.accruals.filter((row) => row.subscriptionId === subscriptionId),
    sums: {
      units: totalUnits(all),
      cash: sum(sharing.map(({ pooled, unredeemed }) => pooled + unredeemed)),
      carry: sum(sharing.map(({ carry }) => carry)),
      basisWithoutUnits: sum(pool.accruals.filter((row) => without.has(row.subscriptionId)).map(({ basis }) => basis)),
    },
  };
}

const cents = (e8: bigint) => Number(e8) / Number(E8_PER_CENT) / 100;

function opened(pool: UnitPool, positionId: bigint): UnitPool {
  return after(pool, { kind: "entry", positionId, volumeClosed: 0n });
}

test("A1: after a deposit at a value of 1.45 the later result is shared 72.5 to 27.5", () => {
  const pool = struck(withDeposit(opened(aPool(1_000_00n), 1n), 2n, 550_00n), aMark(1n, 450_00n));
  const results = new Map([[1n, 1_450_00n]]);
  const [first, second] = [1n, 2n].map((id) => valueHolding(factsOf(pool, id), results));

  expect([first!, second!].map(({ floating }) => cents(floating))).toEqual([1_175, 275]);
  expect(cents(first!.poolValue)).toBe(3_000);
});

test("A10: own capital of 1,000.00 that came at a value of 1.10", () => {
  const pool = struck(withDeposit(opened(aPool(1_000_00n), 1n), OWN_CAPITAL, 1_000_00n), aMark(1n, 100_00n));
  const { floating, poolValue } = valueHolding(factsOf(pool, 1n), new Map([[1n, 200_00n]]));

  expect(cents(floating)).toBeCloseTo(152.38, 2);
  expect(cents(poolValue)).toBe(2_200);
});

test("a holding is valued from sums as the whole pool is", () => {
  let pool = opened(opened(aPool(333_33n, 1_000_00n, 7n), 1n), 2n);
  pool = struck(withDeposit(pool, 4n, 250_01n), aMark(1n, 91_17n), aMark(2n, -12_34n));
  const results = new Map([
    [1n, -55_55n],
    [2n, 3_21n],
  ]);
  const marked = markPositions(pool, [aMark(1n, -55_55n), aMark(2n, 3_21n)]);
  const shares = floatingShares(pool, results);
  for (const { subscriptionId, pooled, carry } of pool.holdings) {
    const { floating, poolValue } = valueHolding(factsOf(pool, subscriptionId), results);
    expect(floating).toBe(shares.get(subscriptionId));
    const equity = pooled * E8_PER_CENT + carry + floating;
    expect(Number(equity - equityOf(marked, subscriptionId))).toBeCloseTo(0, 0);
    expect(poolValue).toBe(netAssetValue(allHoldings(marked), accruedIn(marked)));
  }
});
