import { sumOf } from "./rounding.ts";
import { PoolBroken, type UnitHolding, type UnitPool } from "./unit-pool.ts";

/** The holdings of a pool in their fixed order: Investors ascending by subscription, own capital last. */
export function allHoldings({ holdings, own }: Pick<UnitPool, "holdings" | "own">): UnitHolding[] {
  return [...holdings, own];
}

/** The pool with other holdings, given as `allHoldings` lists them. */
export function withHoldings(pool: UnitPool, all: readonly UnitHolding[]): UnitPool {
  const own = all.at(-1);
  if (own === undefined) throw new PoolBroken("A pool has no own capital.");
  return { ...pool, holdings: all.slice(0, -1), own };
}

export function totalUnits(holdings: readonly UnitHolding[]): bigint {
  return sumOf(holdings.map((holding) => holding.units));
}

/**
 * The holdings with the units by which marks and results are shared. While none has units, own capital is suspense and counts as
 * one unit, so that they always have an owner. Expects the holdings as `allHoldings` lists them.
 */
export function sharingHoldings(all: readonly UnitHolding[]): readonly UnitHolding[] {
  const own = all.at(-1);
  return own === undefined || all.some(({ units }) => units > 0n) ? all : all.with(-1, { ...own, units: 1n });
}

/** Index of the holding with most units, the first of equals; undefined while no holding has units. */
export function indexOfLargestUnits(holdings: readonly UnitHolding[]): number | undefined {
  let largest = 0n;
  let found: number | undefined;
  for (const [index, { units }] of holdings.entries()) {
    if (units <= largest) continue;
    largest = units;
    found = index;
  }
  return found;
}

/** Index of the holding of a subscription, by binary search; undefined if there is none. */
export function indexOfHolding(holdings: readonly UnitHolding[], subscriptionId: bigint): number | undefined {
  let low = 0;
  let high = holdings.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((holdings[middle]?.subscriptionId ?? 0n) < subscriptionId) low = middle + 1;
    else high = middle;
  }
  return holdings[low]?.subscriptionId === subscriptionId ? low : undefined;
}
