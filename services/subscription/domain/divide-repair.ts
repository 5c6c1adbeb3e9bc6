import { divideToSum, sumOf } from "./pool/rounding.ts";
import type { Part } from "./pool/unit-pool.ts";

/** A result that was allocated, with the units by which it was shared. Cents. */
export type AllocatedResult = {
  readonly result: bigint;
  /** The part of own capital, and its units. */
  readonly own: bigint;
  readonly ownUnits: bigint;
  readonly rows: readonly AllocatedPart[];
};

export type AllocatedPart = Part & { readonly units: bigint };

export type Repair = {
  readonly parts: readonly Part[];
  /** The part of own capital. */
  readonly own: bigint;
};

/**
 * Divides an amount that corrects an earlier result by the units of that time, so that each holding has what it would have if the deal had been
 * booked rightly. A deal that is taken back whole gives each holding exactly what it had lost, or won; what the deal has released of the
 * floating result before it is not corrected.
 */
export function divideRepair({ result, own, ownUnits, rows }: AllocatedResult, amount: bigint): Repair {
  const units = [...rows.map((row) => row.units), ownUnits];
  const total = sumOf(units);
  const shared = [...rows.map((row) => row.amount), own];
  const isByUnits = shared.every((part, index) => distance(part * total, result * (units[index] ?? 0n)) < total);
  const parts =
    isByUnits && amount === -result
      ? shared.map((part) => -part)
      : divideToSum(
          units.map((each) => each * amount),
          total,
          amount,
        );
  return {
    parts: rows.flatMap(({ subscriptionId }, index) => {
      const part = parts[index] ?? 0n;
      return part === 0n ? [] : [{ subscriptionId, amount: part }];
    }),
    own: parts.at(-1) ?? 0n,
  };
}

function distance(left: bigint, right: bigint): bigint {
  return left < right ? right - left : left - right;
}
