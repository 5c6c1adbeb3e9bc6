import { fromMinor, toMinor } from "../../client/index.ts";

/** In whole cents: no amount is ever a float. */
export function sumOf(amounts: readonly (string | null)[]): string {
  return fromMinor(amounts.reduce((sum, amount) => sum + (amount === null ? 0n : toMinor(amount)), 0n));
}

/** Of the amounts without their signs. */
export function grossOf(amounts: readonly (string | null)[]): string {
  return sumOf(amounts.map((amount) => amount?.replace(/^-/, "") ?? null));
}

export function differenceOf(amount: string, less: string): string {
  return fromMinor(toMinor(amount) - toMinor(less));
}
