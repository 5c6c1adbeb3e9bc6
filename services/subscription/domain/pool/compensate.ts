import { checkPool } from "./check-pool.ts";
import { PoolBroken } from "./pool-broken.ts";
import { raiseNegative } from "./raise-negative.ts";
import { sumOf } from "./rounding.ts";
import { strikeFlatPool } from "./strike-pool.ts";
import { takeOut } from "./take-out.ts";
import { OWN_CAPITAL, type UnitPool } from "./unit-pool.ts";

export type Compensation = {
  readonly pool: UnitPool;
  /** The holdings that were below zero, and by how many cents. */
  readonly raised: readonly { readonly subscriptionId: bigint; readonly amount: bigint }[];
  readonly total: bigint;
};

/**
 * Raises every Investor below zero to 0.00 out of own capital, whose units are redeemed. This is not a result:
 * allocations do not change. Waiting money keeps waiting. Only for a flat Master, because a floating result could still cover the deficit.
 */
export function compensate(pool: UnitPool): Compensation {
  if (pool.positions.length > 0) throw new PoolBroken("A deficit is not covered while positions are open.");
  const lacking = sumOf(pool.holdings.map(({ pooled }) => (pooled < 0n ? -pooled : 0n)));
  // Own capital pays, so its own hole is not raised.
  const { pool: raisedPool, raised, total } = raiseNegative({ ...pool, own: { ...pool.own, pooled: 0n } }, lacking);
  const taken = takeOut({ ...raisedPool, own: pool.own }, OWN_CAPITAL, total);
  const after = strikeFlatPool(taken, { ownOutflow: total });
  checkPool(after);
  return { pool: after, raised, total };
}
