import { sumOf } from "./rounding.ts";
import type { UnitHolding } from "./unit-pool.ts";

export function totalUnits(holdings: readonly UnitHolding[]): bigint {
  return sumOf(holdings.map((holding) => holding.units));
}

/** Suspense counts as one unit while no holding has units, so that marks and results always have an owner. */
export function suspenseUnits(holdings: readonly UnitHolding[]): bigint {
  return holdings.some((holding) => holding.units > 0n) ? 0n : 1n;
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
