import { sumOf } from "./rounding.ts";
import type { UnitSeat } from "./unit-pool.ts";

export function totalUnits(seats: readonly UnitSeat[]): bigint {
  return sumOf(seats.map((seat) => seat.units));
}

/** Marks and results need somebody to go to: while nobody has units, suspense counts as one. */
export function suspenseUnits(seats: readonly UnitSeat[]): bigint {
  return seats.some((seat) => seat.units > 0n) ? 0n : 1n;
}

/** Where the seat with most units stands, the lower subscription of equals; nowhere while nobody has units. */
export function indexOfMostUnits(seats: readonly UnitSeat[]): number | undefined {
  let most = 0n;
  let found: number | undefined;
  for (const [index, { units }] of seats.entries()) {
    if (units <= most) continue;
    most = units;
    found = index;
  }
  return found;
}

/** Where a subscription has its seat; nowhere if it has none. Seats are sorted, and a fee run asks once for each. */
export function indexOfSeat(seats: readonly UnitSeat[], subscriptionId: bigint): number | undefined {
  let low = 0;
  let high = seats.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seats[middle]?.subscriptionId ?? 0n) < subscriptionId) low = middle + 1;
    else high = middle;
  }
  return seats[low]?.subscriptionId === subscriptionId ? low : undefined;
}
