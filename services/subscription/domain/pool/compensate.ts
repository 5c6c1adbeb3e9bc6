import { checkPool } from "./check-pool.ts";
import { PoolBroken } from "./pool-broken.ts";
import { sumOf } from "./rounding.ts";
import { strikeFlatPool } from "./strike-pool.ts";
import { takeOut } from "./take-out.ts";
import { OWN_CAPITAL, type UnitPool, type UnitHolding } from "./unit-pool.ts";

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
  const raised = pool.holdings
    .filter(({ pooled }) => pooled < 0n)
    .map(({ subscriptionId, pooled }) => ({ subscriptionId, amount: -pooled }));
  const total = sumOf(raised.map(({ amount }) => amount));
  const taken = takeOut({ ...pool, holdings: pool.holdings.map(raise) }, OWN_CAPITAL, total);
  const after = strikeFlatPool(taken, { ownOutflow: total });
  checkPool(after);
  return { pool: after, raised, total };
}

function raise(holding: UnitHolding): UnitHolding {
  return holding.pooled < 0n ? { ...holding, pooled: 0n } : holding;
}
