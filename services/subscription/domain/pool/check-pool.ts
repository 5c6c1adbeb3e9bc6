import { PoolBroken } from "./pool-broken.ts";
import { sumOf } from "./rounding.ts";
import { E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { suspenseUnits, totalUnits } from "./units.ts";

/**
 * Throws when the books of a pool contradict themselves: what is attributed of a position is not what its mark says,
 * carries do not cancel out, or something is kept of a position that is gone.
 */
export function checkPool(pool: UnitPool): void {
  checkSeats(pool);
  checkMarks(pool);
  const carried = sumOf(pool.seats.map((seat) => seat.carry)) + pool.suspense.carry;
  if (carried !== 0n) throw new PoolBroken(`Carries sum to ${carried} e8 instead of 0.`);
}

/**
 * Right after each allocation every carry is below a cent. Later whoever inherits from one that leaves may have more
 * until the next, so this is not for `checkPool` to say.
 */
export function checkCarries({ seats, suspense }: UnitPool): void {
  for (const { subscriptionId, carry } of [...seats, { subscriptionId: undefined, carry: suspense.carry }]) {
    if (carry < E8_PER_CENT && carry > -E8_PER_CENT) continue;
    throw new PoolBroken(`The carry of ${subscriptionId ?? "suspense"} is a cent or more: ${carry} e8.`);
  }
}

function checkSeats({ seats }: UnitPool): void {
  let last = -1n;
  for (const { subscriptionId, units, waiting, unredeemed } of seats) {
    if (subscriptionId <= last) throw new PoolBroken("Seats are not in the order of their subscriptions.");
    if (units < 0n || waiting < 0n || unredeemed < 0n) throw new PoolBroken(`Seat ${subscriptionId} owes units.`);
    last = subscriptionId;
  }
}

/** To less than 1e-8: attributing per unit and shrinking round, but far below that. */
function checkMarks({ seats, positions, accruals }: UnitPool): void {
  const total = totalUnits(seats) + suspenseUnits(seats);
  const unitsOf = new Map<bigint | undefined, bigint>(seats.map((seat) => [seat.subscriptionId, seat.units]));
  unitsOf.set(undefined, suspenseUnits(seats));
  const missing = new Map(positions.map(({ positionId, mark, perUnit }) => [positionId, mark - total * perUnit]));
  for (const { positionId, subscriptionId, basis, perUnit } of accruals) {
    const [before, units] = [missing.get(positionId), unitsOf.get(subscriptionId)];
    if (before === undefined || units === undefined) throw new PoolBroken("An accrual has lost its position or seat.");
    missing.set(positionId, before - basis + units * perUnit);
  }
  for (const [positionId, amount] of missing) {
    if (amount < SCALE && amount > -SCALE) continue;
    throw new PoolBroken(`What is attributed of position ${positionId} is not its mark.`);
  }
}
