import { checkPool } from "./pool/check-pool.ts";
import { strikeFlatPool } from "./pool/strike-pool.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

/** A part of a waiting bucket: money on the Master that has no units yet; or an outflow of own capital whose units are not redeemed yet. */
export type Arrival = {
  readonly id: bigint;
  /** OWN_CAPITAL for own capital. */
  readonly subscriptionId: bigint;
  /** Log position of the Master after which it takes part in results, or no longer does. */
  readonly number: bigint;
  /** Highest ticket up to that log position. */
  readonly dealId: bigint;
  /** Cents; negative for an outflow. */
  readonly amount: bigint;
};

export type Arrived = { readonly pool: UnitPool; readonly arrivals: readonly Arrival[]; readonly dealId: bigint };

/**
 * Strikes the arrivals that are older than the next deal of a flat Master, so that they take part in that deal. A flat
 * Master has no floating result, so no marks are needed. Undefined when no arrival is due.
 */
export function strikeArrivals(
  pool: UnitPool,
  arrivals: readonly Arrival[],
  before: Pick<Arrival, "number" | "dealId">,
): Arrived | undefined {
  // An arrival takes no part in a deal with a lower ticket, even if that deal was logged later.
  const isDue = ({ number, dealId }: Arrival): boolean => number < before.number && dealId < before.dealId;
  const due = arrivals.filter(isDue);
  if (due.length === 0 || pool.positions.length > 0) return undefined;
  const inflows = new Map<bigint, bigint>();
  let ownOutflow = 0n;
  for (const { subscriptionId, amount } of due) {
    if (amount < 0n) ownOutflow -= amount;
    else inflows.set(subscriptionId, (inflows.get(subscriptionId) ?? 0n) + amount);
  }
  const after = strikeFlatPool(pool, { inflows, ownOutflow });
  checkPool(after);
  return {
    pool: after,
    arrivals: arrivals.filter((arrival) => !isDue(arrival)),
    dealId: due.reduce((highest, { dealId }) => (dealId > highest ? dealId : highest), 0n),
  };
}
