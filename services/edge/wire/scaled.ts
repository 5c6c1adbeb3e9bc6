import { formatUnits } from "#kernel/exact-decimal.ts";
import { type JsonNumber, jsonNumber } from "./json-number.ts";

const TRAILING_ZEROS = /\.?0+$/;
const CENT_SCALE = 2;
const E8_SCALE = 8;

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
