import { checkPool } from "./pool/check-pool.ts";
import { strikePool } from "./pool/strike-pool.ts";
import { leaveUnits, takeOut } from "./pool/take-out.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

export type FlatOutflow = {
  readonly subscriptionId: bigint;
  /** Cents that leave what is pooled. */
  readonly amount: bigint;
  /** The Investor goes altogether. */
  readonly isLast: boolean;
};

/**
 * One Investor takes capital out of a flat pool, or goes altogether. What has come to the Master meanwhile may be
 * younger than the place at which this was decided, so inflows wait for a strike of their own.
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
