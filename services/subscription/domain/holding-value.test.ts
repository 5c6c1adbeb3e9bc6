import { expect, test } from "vitest";
import { aMark, aPool, after, struck, withDeposit } from "../testing/pools.ts";
import { equityOf, netAssetValue } from "./pool/equity.ts";
import { accruedIn } from "./pool/accruals.ts";
import { floatingShares } from "./pool/floating-shares.ts";
import { markPositions } from "./pool/strike-pool.ts";
import { E8_PER_CENT, type UnitPool } from "./pool/unit-pool.ts";
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

function opened(pool: UnitPool, positionId: bigint): UnitPool {
  return after(pool, { kind: "entry", positionId, volumeClosed: 0n });
}

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
