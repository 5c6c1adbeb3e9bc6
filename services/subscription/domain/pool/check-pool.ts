import { PoolBroken } from "./pool-broken.ts";
import { sumOf } from "./rounding.ts";
import { E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { suspenseUnits, totalUnits } from "./units.ts";

/**
 * Throws PoolBroken when the books of a pool contradict themselves: the attributed result of a position differs from
 * its mark, carries do not sum to 0, or an accrual has no position or holding.
 */
export function checkPool(pool: UnitPool): void {
  checkHoldings(pool);
  checkMarks(pool);
  const carried = sumOf(pool.holdings.map((holding) => holding.carry)) + pool.suspense.carry;
  if (carried !== 0n) throw new PoolBroken(`Carries sum to ${carried} e8 instead of 0.`);
}

/**
 * Throws PoolBroken when a carry is a cent or more. Holds only right after an allocation: a holding that inherits the
 * carry of a leaving one may exceed a cent until the next allocation, so `checkPool` does not check it.
 */
export function checkCarries({ holdings, suspense }: UnitPool): void {
  for (const { subscriptionId, carry } of [...holdings, { subscriptionId: undefined, carry: suspense.carry }]) {
    if (carry < E8_PER_CENT && carry > -E8_PER_CENT) continue;
    throw new PoolBroken(`The carry of ${subscriptionId ?? "suspense"} is a cent or more: ${carry} e8.`);
  }
}

function checkHoldings({ holdings }: UnitPool): void {
  let last = -1n;
  for (const { subscriptionId, units, waiting, unredeemed } of holdings) {
    if (subscriptionId <= last) throw new PoolBroken("Holdings are not sorted by subscription.");
    if (units < 0n || waiting < 0n || unredeemed < 0n) {
      throw new PoolBroken(`Holding ${subscriptionId} has a negative amount.`);
    }
    last = subscriptionId;
  }
}

/** To less than 1e-8 USD: attribution per unit and partial closes round, but far below that. */
function checkMarks({ holdings, positions, accruals }: UnitPool): void {
  const total = totalUnits(holdings) + suspenseUnits(holdings);
  const unitsOf = new Map<bigint | undefined, bigint>(
    holdings.map((holding) => [holding.subscriptionId, holding.units]),
  );
  unitsOf.set(undefined, suspenseUnits(holdings));
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
