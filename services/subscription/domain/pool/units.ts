import { sumOf } from "./rounding.ts";
import type { UnitHolding } from "./unit-pool.ts";

export function totalUnits(holdings: readonly UnitHolding[]): bigint {
  return sumOf(holdings.map((holding) => holding.units));
}

/** Marks and results need somebody to go to: while nobody has units, suspense counts as one. */
export function suspenseUnits(holdings: readonly UnitHolding[]): bigint {
  return holdings.some((holding) => holding.units > 0n) ? 0n : 1n;
}

/** Where the holding with most units stands, the lower subscription of equals; nowhere while nobody has units. */
export function indexOfLargestUnits(holdings: readonly UnitHolding[]): number | undefined {
  let most = 0n;
  let found: number | undefined;
  for (const [index, { units }] of holdings.entries()) {
    if (units <= most) continue;
    most = units;
    found = index;
  }
  return found;
}

/** Where a subscription has its holding; nowhere if it has none. Holdings are sorted, and a fee run asks once for each. */
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
