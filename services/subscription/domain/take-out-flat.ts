import { checkPool } from "./pool/check-pool.ts";
import { strikePool } from "./pool/strike-pool.ts";
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
  const waiting = new Map(pool.holdings.map((holding) => [holding.subscriptionId, holding.waiting]));
  const taken = takeOut(pool, subscriptionId, amount);
  const struck = strikePool({ ...taken, holdings: taken.holdings.map((holding) => ({ ...holding, waiting: 0n })) }, []);
  const holdings = struck.holdings.map((holding) => ({
    ...holding,
    waiting: waiting.get(holding.subscriptionId) ?? 0n,
  }));
  const after = isLast ? leaveUnits({ ...struck, holdings }, subscriptionId) : { ...struck, holdings };
  checkPool(after);
  return after;
}
