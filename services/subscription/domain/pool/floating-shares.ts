import { accruedIn } from "./accruals.ts";
import { roundDivide } from "./rounding.ts";
import { type E8, E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { totalUnits } from "./units.ts";

/**
 * f: what each would gain or lose if the Master closed everything at these results, in cents by position. A position
 * that is not among them counts with its mark, one that the pool does not know not at all.
 */
export function floatingShares(pool: UnitPool, floating: ReadonlyMap<bigint, bigint>): ReadonlyMap<bigint, E8> {
  const accrued = accruedIn(pool);
  const units = totalUnits(pool.holdings);
  let unmarked = 0n;
  for (const { positionId, mark } of pool.positions) {
    const now = floating.get(positionId);
    if (now !== undefined) unmarked += now * E8_PER_CENT * SCALE - mark;
  }
  const shares = pool.holdings.map((holding): [bigint, E8] => {
    const own = accrued(holding.subscriptionId, holding.units);
    if (units === 0n) return [holding.subscriptionId, roundDivide(own, SCALE)];
    return [holding.subscriptionId, roundDivide(own * units + unmarked * holding.units, SCALE * units)];
  });
  return new Map(shares);
}
