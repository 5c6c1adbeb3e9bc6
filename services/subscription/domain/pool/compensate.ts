import { checkPool } from "./check-pool.ts";
import { PoolBroken } from "./pool-broken.ts";
import { sumOf } from "./rounding.ts";
import { strikeFlatPool } from "./strike-pool.ts";
import type { UnitPool, UnitHolding } from "./unit-pool.ts";

export type Compensation = {
  readonly pool: UnitPool;
  /** The holdings that were below zero, and by how many cents. */
  readonly raised: readonly { readonly subscriptionId: bigint; readonly amount: bigint }[];
  readonly total: bigint;
};

/**
 * Raises every holding below zero to 0.00 with money from outside the pool. This is not a result: allocations do not
 * change. Waiting money keeps waiting. Only for a flat Master, because a floating result could still cover the deficit.
 */
export function compensate(pool: UnitPool): Compensation {
  if (pool.positions.length > 0) throw new PoolBroken("A deficit is not covered while positions are open.");
  const raised = pool.holdings
    .filter(({ pooled }) => pooled < 0n)
    .map(({ subscriptionId, pooled }) => ({ subscriptionId, amount: -pooled }));
  const after = strikeFlatPool({ ...pool, holdings: pool.holdings.map(raise) });
  checkPool(after);
  return { pool: after, raised, total: sumOf(raised.map(({ amount }) => amount)) };
}

function raise(holding: UnitHolding): UnitHolding {
  return holding.pooled < 0n ? { ...holding, pooled: 0n } : holding;
}
