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
 * Investors take capital out of a flat pool, or leave it, by one strike. Inflows get no units here: they may be younger than the
 * log position at which this was decided, so they get units at a separate strike.
 */
export function takeOutFlat(pool: UnitPool, outflows: readonly FlatOutflow[]): UnitPool {
  const taken = outflows.reduce((left, { subscriptionId, amount }) => takeOut(left, subscriptionId, amount), pool);
  const after = outflows
    .filter(({ isLast }) => isLast)
    .reduce((left, { subscriptionId }) => leaveUnits(left, subscriptionId), strikeFlatPool(taken));
  checkPool(after);
  return after;
}
