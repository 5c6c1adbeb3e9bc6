import { formatUnits, MAX_TEXT_LENGTH, parseExact } from "./exact-decimal.ts";

export type Currency = "USD";

/** An exact amount in whole cents, signed. Never converted to a float. */
export type Money = { readonly currency: Currency; readonly minor: bigint };

export type ParsedAmount =
  | { readonly ok: true; readonly minor: bigint }
  | { readonly ok: false; readonly problem: "malformed" | "precision" };

const MINOR_DIGITS = 2;

export function usd(minor: bigint): Money {
  return { currency: "USD", minor };
}

/** The smallest amount of a deposit or withdrawal. */
export const MIN_AMOUNT: Money = usd(1n);

/** The trading platform moves no more than 1,000,000,000.00 in one balance operation. */
export const MAX_AMOUNT: Money = usd(1_000_000_000_00n);

export function zero(currency: Currency = "USD"): Money {
  return { currency, minor: 0n };
}

/** Reads decimal text such as 100, 100.5 or -100.50. More than two decimals are an error and never rounded, not even 1.000. */
export function parseAmount(text: string): ParsedAmount {
  const minor = parseDecimal(text);
  if (minor !== undefined) return { ok: true, minor };
  return { ok: false, problem: parseExact(text, MAX_TEXT_LENGTH) === undefined ? "malformed" : "precision" };
}

/** For callers that do not distinguish why a text is not an amount. */
export function parseDecimal(text: string): bigint | undefined {
  return parseExact(text, MINOR_DIGITS);
}

/** Always two decimals, no grouping: -0.05, 100.00. */
export function formatMinor(minor: bigint): string {
  return formatUnits(minor, MINOR_DIGITS);
}

export function formatDecimal({ minor }: Money): string {
  return formatMinor(minor);
}

/** For sentences that operators and callers read, with its currency: 1,077.94 USD. */
export function formatAmount(money: Money): string {
  const [whole = "", fraction = ""] = formatDecimal(money).split(".");
  return `${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",")}.${fraction} ${money.currency}`;
}
