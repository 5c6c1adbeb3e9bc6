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
