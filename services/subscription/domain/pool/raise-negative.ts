import { accruedIn } from "./accruals.ts";
import { equityOfHolding, valueOfUnits } from "./equity.ts";
import { divideToSum, floorDivide, sumOf } from "./rounding.ts";
import { attributeValued } from "./strike-pool.ts";
import { E8_PER_CENT, type UnitHolding, type UnitPool } from "./unit-pool.ts";
import { allHoldings, withHoldings } from "./units.ts";

export type Raised = {
  readonly pool: UnitPool;
  /** Cents of each subscription that was below zero; own capital is not among them. */
  readonly raised: readonly { readonly subscriptionId: bigint; readonly amount: bigint }[];
  readonly own: bigint;
  /** With own capital. */
  readonly total: bigint;
};

/**
 * Raises the holdings below zero towards 0.00 with at most `amount` cents, in proportion to what each lacks. This is no result: carries, units
 * and allocations do not change, and holdings that lack nothing get nothing.
 */
export function raiseNegative(pool: UnitPool, amount: bigint): Raised {
  const all = allHoldings(pool);
  const lacks = lacksOf(pool, all);
  const missing = sumOf(lacks);
  const total = amount < missing ? amount : missing;
  if (total <= 0n) return { pool, raised: [], own: 0n, total: 0n };
  const parts = divideToSum(
    lacks.map((lack) => lack * total),
    missing,
    total,
  );
  const raisedOf = (index: number): bigint => parts[index] ?? 0n;
  return {
    pool: withHoldings(
      pool,
      all.map((holding, index) => ({ ...holding, pooled: holding.pooled + raisedOf(index) })),
    ),
    raised: pool.holdings.flatMap(({ subscriptionId }, index) =>
      raisedOf(index) === 0n ? [] : [{ subscriptionId, amount: raisedOf(index) }],
    ),
    own: raisedOf(all.length - 1),
    total,
  };
}

/**
 * What each holding has lost beyond its capital, in cents. While positions are open, what floated when the pool was valued last covers cash
 * below zero: it becomes cash when they are closed. While units have a value, who has some has lost no more than it had: own capital that a dealer has
 * overdrawn is such a holding.
 */
function lacksOf(pool: UnitPool, all: readonly UnitHolding[]): bigint[] {
  const accrued = accruedIn(attributeValued(pool));
  const isWorthless = valueOfUnits(pool) <= 0n;
  const isFlat = pool.positions.length === 0;
  return all.map((holding) => {
    const { units, pooled } = holding;
    if (pooled >= 0n || (units > 0n && !isWorthless)) return 0n;
    const uncovered = isFlat ? -pooled : -floorDivide(equityOfHolding(holding, accrued), E8_PER_CENT);
    return atLeastZero(uncovered < -pooled ? uncovered : -pooled);
  });
}

function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
