import { sumOf } from "./rounding.ts";
import { allHoldings, sharingHoldings, totalUnits } from "./units.ts";
import { E8_PER_CENT, PoolBroken, SCALE, type UnitPool } from "./unit-pool.ts";

/**
 * Throws PoolBroken when the books of a pool contradict themselves: the attributed result of a position differs from
 * its mark, carries do not sum to 0, or an accrual has no position or holding.
 */
export function checkPool(pool: UnitPool): void {
  checkHoldings(pool);
  checkMarks(pool);
  const carried = sumOf(allHoldings(pool).map((holding) => holding.carry));
  if (carried !== 0n) throw new PoolBroken(`Carries sum to ${carried} e8 instead of 0.`);
}

/**
 * Throws PoolBroken when a carry is a cent or more. Holds only right after an allocation: a holding that inherits the
 * carry of a leaving one may exceed a cent until the next allocation, so `checkPool` does not check it.
 */
export function checkCarries(pool: UnitPool): void {
  for (const { subscriptionId, carry } of allHoldings(pool)) {
    if (carry < E8_PER_CENT && carry > -E8_PER_CENT) continue;
    throw new PoolBroken(`The carry of holding ${subscriptionId} is a cent or more: ${carry} e8.`);
  }
}

function checkHoldings(pool: UnitPool): void {
  let last = -1n;
  for (const { subscriptionId, units, waiting, unredeemed } of allHoldings(pool)) {
    if (subscriptionId <= last) throw new PoolBroken("Holdings are not sorted by subscription.");
    if (units < 0n || waiting < 0n || unredeemed < 0n) {
      throw new PoolBroken(`Holding ${subscriptionId} has a negative amount.`);
    }
    last = subscriptionId;
  }
}

/** To less than 1e-8 USD: attribution per unit and partial closes round, but far below that. */
function checkMarks(pool: UnitPool): void {
  const { positions, accruals } = pool;
  const sharing = sharingHoldings(allHoldings(pool));
  const total = totalUnits(sharing);
  const unitsOf = new Map(sharing.map(({ subscriptionId, units }) => [subscriptionId, units]));
  const missing = new Map(positions.map(({ positionId, mark, perUnit }) => [positionId, mark - total * perUnit]));
  for (const { positionId, subscriptionId, basis, perUnit } of accruals) {
    const [before, units] = [missing.get(positionId), unitsOf.get(subscriptionId)];
    if (before === undefined || units === undefined) {
      throw new PoolBroken(`An accrual of position ${positionId} has no position or holding.`);
    }
    missing.set(positionId, before - basis + units * perUnit);
  }
  for (const [positionId, amount] of missing) {
    if (amount < SCALE && amount > -SCALE) continue;
    throw new PoolBroken(`The attributed result of position ${positionId} differs from its mark.`);
  }
}
