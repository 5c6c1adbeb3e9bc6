import type { Spread } from "../statistics.ts";

/** Enough digits to compare, and no more: 1,234; 12.3; 0.12. */
export function number(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median with the extremes. */
export function spread({ median, min, max }: Spread): string {
  return `${number(median)} (${number(min)} - ${number(max)})`;
}
