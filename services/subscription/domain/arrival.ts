import { checkPool } from "./pool/check-pool.ts";
import { strikePool } from "./pool/strike-pool.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

/** A part of what waits for its units. */
export type Arrival = {
  readonly id: bigint;
  readonly subscriptionId: bigint;
  /** Entry of the Master's log after which it works. */
  readonly number: bigint;
  /** Highest ticket up to there. */
  readonly dealId: bigint;
  /** Cents. */
  readonly amount: bigint;
};

export type Arrived = { readonly pool: UnitPool; readonly arrivals: readonly Arrival[]; readonly dealId: bigint };

/**
 * What has come to a flat Master before its next deal works from that deal on. Nothing floats there, so no marks are
 * needed: whoever was mirrored in time has its part, however quickly the trader goes on. Undefined when there is none.
 */
export function strikeArrivals(
  pool: UnitPool,
  arrivals: readonly Arrival[],
  before: Pick<Arrival, "number" | "dealId">,
): Arrived | undefined {
  // A deal that was made before it and is seen after it is none of its business, and nothing to stop for.
  const isDue = ({ number, dealId }: Arrival): boolean => number < before.number && dealId < before.dealId;
  const due = arrivals.filter(isDue);
  if (due.length === 0 || pool.positions.length > 0) return undefined;
  const amounts = new Map<bigint, bigint>();
  for (const { subscriptionId, amount } of due) {
    amounts.set(subscriptionId, (amounts.get(subscriptionId) ?? 0n) + amount);
  }
  const later = new Map(
    pool.holdings.map(({ subscriptionId, waiting }) => [subscriptionId, waiting - (amounts.get(subscriptionId) ?? 0n)]),
  );
  const ready = pool.holdings.map((holding) => ({ ...holding, waiting: amounts.get(holding.subscriptionId) ?? 0n }));
  const struck = strikePool({ ...pool, holdings: ready }, []);
  const holdings = struck.holdings.map((holding) => ({ ...holding, waiting: later.get(holding.subscriptionId) ?? 0n }));
  const after = { ...struck, holdings };
  checkPool(after);
  return {
    pool: after,
    arrivals: arrivals.filter((arrival) => !isDue(arrival)),
    dealId: due.reduce((highest, { dealId }) => (dealId > highest ? dealId : highest), 0n),
  };
}
