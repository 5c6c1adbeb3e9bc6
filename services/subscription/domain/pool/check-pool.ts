import { PoolBroken } from "./pool-broken.ts";
import { sumOf } from "./rounding.ts";
import { E8_PER_CENT, SCALE, type UnitPool } from "./unit-pool.ts";
import { suspenseUnits, totalUnits } from "./units.ts";

/**
 * Throws when the books of a pool contradict themselves: what is attributed of a position is not what its mark says,
 * carries do not cancel out, or something is kept of a position that is gone.
 */
export function checkPool(pool: UnitPool): void {
  checkHoldings(pool);
  checkMarks(pool);
  const carried = sumOf(pool.holdings.map((holding) => holding.carry)) + pool.suspense.carry;
  if (carried !== 0n) throw new PoolBroken(`Carries sum to ${carried} e8 instead of 0.`);
}

/**
 * Right after each allocation every carry is below a cent. Later whoever inherits from one that leaves may have more
 * until the next, so this is not for `checkPool` to say.
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
    if (subscriptionId <= last) throw new PoolBroken("Holdings are not in the order of their subscriptions.");
    if (units < 0n || waiting < 0n || unredeemed < 0n) throw new PoolBroken(`Holding ${subscriptionId} owes units.`);
    last = subscriptionId;
  }
}

/** To less than 1e-8: attributing per unit and shrinking round, but far below that. */
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
      throw new PoolBroken("An accrual has lost its position or holding.");
    }
    missing.set(positionId, before - basis + units * perUnit);
  }
  for (const [positionId, amount] of missing) {
    if (amount < SCALE && amount > -SCALE) continue;
    throw new PoolBroken(`What is attributed of position ${positionId} is not its mark.`);
  }
}
