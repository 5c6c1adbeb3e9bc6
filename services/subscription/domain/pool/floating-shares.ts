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
  const units = totalUnits(pool.seats);
  let unmarked = 0n;
  for (const { positionId, mark } of pool.positions) {
    const now = floating.get(positionId);
    if (now !== undefined) unmarked += now * E8_PER_CENT * SCALE - mark;
  }
  const shares = pool.seats.map((seat): [bigint, E8] => {
    const own = accrued(seat.subscriptionId, seat.units);
    if (units === 0n) return [seat.subscriptionId, roundDivide(own, SCALE)];
    return [seat.subscriptionId, roundDivide(own * units + unmarked * seat.units, SCALE * units)];
  });
  return new Map(shares);
}
