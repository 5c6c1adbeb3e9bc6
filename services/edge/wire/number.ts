import assert from "node:assert/strict";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { formatUnits } from "#kernel/values/exact-decimal.ts";
import { formatDecimal, parseAmount, usd } from "#kernel/values/money.ts";
import { formatRate, parseRate, rateFromPpm } from "#kernel/values/rate.ts";
import type { Money as MoneyMessage } from "#proto/pamm/common/v1/money.ts";

/** A number that is serialised with exactly its own digits; it never becomes a float. */
export type JsonNumber = { readonly rawJSON: string };

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

// The type library does not know this member of JSON yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => JsonNumber };

export function jsonNumber(digits: string): JsonNumber {
  if (!NUMBER.test(digits)) throw new TypeError("not the digits of a number");
  return rawJSON(digits);
}

export function jsonInteger(value: bigint): JsonNumber {
  return jsonNumber(value.toString());
}

const TRAILING_ZEROS = /\.?0+$/;
export const CENT_SCALE = 2;
export const E8_SCALE = 8;

/** A whole number of units of 10^-scale as a JSON number with at most `decimals` decimals, rounded half away from zero. */
export function scaledNumber(value: bigint, scale: number, decimals: number): JsonNumber {
  return jsonNumber(scaledText(value, scale, decimals).replace(TRAILING_ZEROS, ""));
}

/** The same with exactly that many decimals. */
export function scaledText(value: bigint, scale: number, decimals: number): string {
  const unit = 10n ** BigInt(scale - decimals);
  const size = ((value < 0n ? -value : value) + unit / 2n) / unit;
  return formatUnits(value < 0n ? -size : size, decimals);
}

export function centsNumber(cents: bigint): JsonNumber {
  return scaledNumber(cents, CENT_SCALE, CENT_SCALE);
}

/** In units of 1e-8, as units of a pool are. */
export function e8Number(e8: bigint | string): JsonNumber {
  return scaledNumber(BigInt(e8), E8_SCALE, E8_SCALE);
}

/** Cents as a JSON number in its shortest form: 100, 100.5, 100.55. */
export function moneyNumber(message: MoneyMessage | undefined): JsonNumber {
  return centsNumber(moneyFromProto(message).minor);
}

/** Always two decimals: 100.00. */
export function moneyText(message: MoneyMessage | undefined): string {
  return formatDecimal(moneyFromProto(message));
}

/** Text that the schema has found to be an amount. */
export function moneyOf(text: string | undefined): MoneyMessage {
  const parsed = parseAmount(text ?? "");
  assert(parsed.ok, "the schema has checked the amount");
  return moneyToProto(usd(parsed.minor));
}

/** Always six decimals: 0.300000. */
export function rateText(ppm: number): string {
  return formatRate(rateFromPpm(BigInt(ppm)));
}

/** Text that the schema has found to be a rate from 0 to 1. */
export function ratePpm(text: string | undefined): number {
  const rate = parseRate(text ?? "");
  assert(rate !== undefined, "the schema has checked the rate");
  return Number(rate.ppm);
}
