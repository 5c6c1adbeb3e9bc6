import { checkPool } from "./pool/check-pool.ts";
import { strikeFlatPool } from "./pool/strike-pool.ts";
import { leaveUnits, takeOut } from "./pool/take-out.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

export type FlatOutflow = {
  readonly subscriptionId: bigint;
  /** Cents taken from the pooled amount. */
  readonly amount: bigint;
  /** The Investor leaves the pool. */
  readonly isLast: boolean;
};

/**
 * One Investor takes capital out of a flat pool, or leaves it. Inflows get no units here: they may be younger than the
 * log position at which this was decided, so they get units at a separate strike.
 */
export function takeOutFlat(pool: UnitPool, { subscriptionId, amount, isLast }: FlatOutflow): UnitPool {
  const struck = strikeFlatPool(takeOut(pool, subscriptionId, amount));
  const after = isLast ? leaveUnits(struck, subscriptionId) : struck;
  checkPool(after);
  return after;
}
