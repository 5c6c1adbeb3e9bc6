import { compare, type Fraction, floor, fraction, minus, reduced, total } from "./fraction.ts";

/** Exact amounts of somebody each, and what they are as whole cents. */
export type Entitlement<Owner> = { readonly owner: Owner; readonly exact: Fraction };
export type Payment<Owner> = { readonly owner: Owner; readonly cents: bigint };

/**
 * Whole cents whose sum is the sum of the exact amounts: everybody's cents rounded down, then one cent each to the
 * largest fractional parts; among equals to the one named first.
 */
export function toCents<Owner>(entitlements: readonly Entitlement<Owner>[]): Payment<Owner>[] {
  const sum = reduced(total(entitlements.map(({ exact }) => exact)));
  if (sum.bottom !== 1n) throw new Error("the sum is no whole number of cents");
  const floors = entitlements.map(({ exact }) => floor(exact));
  const missing = sum.top - floors.reduce((all, cents) => all + cents, 0n);
  const byFractionalPart = entitlements
    .map(({ exact }, index) => ({ index, part: minus(exact, fraction(floors[index]!)) }))
    .toSorted((a, b) => compare(b.part, a.part) || a.index - b.index);
  const rewarded = new Set(byFractionalPart.slice(0, Number(missing)).map(({ index }) => index));
  return entitlements.map(({ owner }, index) => ({ owner, cents: floors[index]! + (rewarded.has(index) ? 1n : 0n) }));
}

export function dollars(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Whole cents of "-1234.5" or "10". */
export function centsOf(text: string): bigint {
  const [, sign, whole = "", decimals = ""] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (sign === undefined) throw new Error(`${text} is no amount`);
  const cents = BigInt(whole) * 100n + BigInt(decimals.padEnd(2, "0"));
  return sign === "-" ? -cents : cents;
}
