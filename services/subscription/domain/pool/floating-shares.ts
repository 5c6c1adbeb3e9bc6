import { accruedIn } from "./accruals.ts";
import { roundDivide } from "./rounding.ts";
import { type E8, E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { allHoldings, totalUnits } from "./units.ts";

/**
 * f: the share of each subscription in the floating result, if all positions were closed at these results (cents by
 * position). A position without a result counts with its mark; a result of a position that the pool does not contain is
 * ignored.
 */
export function floatingShares(pool: UnitPool, floating: ReadonlyMap<bigint, bigint>): ReadonlyMap<bigint, E8> {
  const accrued = accruedIn(pool);
  const units = totalUnits(allHoldings(pool));
  let unmarked = 0n;
  for (const { positionId, mark } of pool.positions) {
    const result = floating.get(positionId);
    if (result !== undefined) unmarked += result * E8_PER_CENT * SCALE - mark;
  }
  const shares = pool.holdings.map((holding): [bigint, E8] => {
    const own = accrued(holding.subscriptionId, holding.units);
    if (units === 0n) return [holding.subscriptionId, roundDivide(own, SCALE)];
    return [holding.subscriptionId, roundDivide(own * units + unmarked * holding.units, SCALE * units)];
  });
  return new Map(shares);
}
