import { type JsonNumber, jsonNumber } from "./json-number.ts";

const TRAILING_ZEROS = /\.?0+$/;
/** Decimals of a unit of a pool. */
const UNIT_SCALE = 8;

/** A whole number of units of 10^-scale as a JSON number with at most `decimals` decimals, rounded half away from zero. */
export function scaledNumber(value: bigint, scale: number, decimals: number): JsonNumber {
  const text = scaledText(value, scale, decimals);
  return jsonNumber(text.includes(".") ? text.replace(TRAILING_ZEROS, "") : text);
}

/** The same with exactly that many decimals. */
export function scaledText(value: bigint, scale: number, decimals: number): string {
  const unit = 10n ** BigInt(scale - decimals);
  const size = ((value < 0n ? -value : value) + unit / 2n) / unit;
  const digits = size.toString().padStart(decimals + 1, "0");
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return value < 0n && size > 0n ? `-${text}` : text;
}

/** Units of a pool. */
export function unitsNumber(units: string): JsonNumber {
  return scaledNumber(BigInt(units), UNIT_SCALE, UNIT_SCALE);
}
