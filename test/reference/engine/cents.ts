import { compare, type Fraction, floor, fraction, minus, reduced, total } from "./fraction.ts";

/** An exact amount of an owner, and the whole cents that are paid for it. */
export type Entitlement<Owner> = { readonly owner: Owner; readonly exact: Fraction };
export type Payment<Owner> = { readonly owner: Owner; readonly cents: bigint };

/**
 * Whole cents whose sum is the sum of the exact amounts: each amount rounded down, then one cent each to the largest
 * fractional parts; among equal parts to the first owner (largest-remainder method).
 */
export function toCents<Owner>(entitlements: readonly Entitlement<Owner>[]): Payment<Owner>[] {
  const sum = reduced(total(entitlements.map(({ exact }) => exact)));
  if (sum.denominator !== 1n) throw new Error("the sum must be a whole number of cents");
  const floors = entitlements.map(({ exact }) => floor(exact));
  const missing = sum.numerator - floors.reduce((all, cents) => all + cents, 0n);
  const byFractionalPart = entitlements
    .map(({ exact }, index) => ({ index, part: minus(exact, fraction(floors[index]!)) }))
    .toSorted((a, b) => compare(b.part, a.part) || a.index - b.index);
  const rewarded = new Set(byFractionalPart.slice(0, Number(missing)).map(({ index }) => index));
  return entitlements.map(({ owner }, index) => ({ owner, cents: floors[index]! + (rewarded.has(index) ? 1n : 0n) }));
}

/** Whole cents in proportion to some weights, their sum not 0; rounded like any result. */
export function shareOut<Owner>(cents: bigint, weights: readonly (readonly [Owner, bigint])[]): Payment<Owner>[] {
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0n);
  return toCents(weights.map(([owner, weight]) => ({ owner, exact: fraction(cents * weight, all) })));
}

export function dollars(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Whole cents of "-1234.5" or "10". */
export function centsOf(text: string): bigint {
  const [, sign, whole = "", decimals = ""] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (sign === undefined) throw new Error(`${text} is not an amount`);
  const cents = BigInt(whole) * 100n + BigInt(decimals.padEnd(2, "0"));
  return sign === "-" ? -cents : cents;
}
