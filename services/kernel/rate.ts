import type { Money } from "./money.ts";

/** A share in parts per million: exactly the six decimals of a rate such as 0.300000. */
export type Rate = { readonly ppm: bigint };

/** "down" is towards zero, so that the results for x and -x differ in sign only; "half-even" is bankers' rounding. */
export type Rounding = "down" | "half-even";

const PPM = 1_000_000n;
const DECIMAL = /^(\d{1,9})(?:\.(\d{1,6}))?$/;

export function rateFromPpm(ppm: bigint): Rate {
  return { ppm };
}

/** Reads 0.3 or 0.300000; undefined when it is not a decimal or has more than six decimals. Never negative. */
export function parseRate(text: string): Rate | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  return { ppm: BigInt(whole) * PPM + BigInt(fraction.padEnd(6, "0")) };
}

/** Always six decimals. */
export function formatRate({ ppm }: Rate): string {
  const digits = (ppm < 0n ? -ppm : ppm).toString().padStart(7, "0");
  return `${ppm < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** Multiplies once and rounds once to whole cents, in the way that the caller names. */
export function multiply({ currency, minor }: Money, { ppm }: Rate, rounding: Rounding): Money {
  const product = minor * ppm;
  return { currency, minor: rounding === "down" ? product / PPM : roundHalfEven(product, PPM) };
}

/** BigInt division truncates towards zero; the remainder decides whether the result moves one away from zero. */
function roundHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twiceRest = 2n * (numerator % denominator);
  const distance = twiceRest < 0n ? -twiceRest : twiceRest;
  const isTruncated = distance < denominator || (distance === denominator && quotient % 2n === 0n);
  if (isTruncated) return quotient;
  return numerator < 0n ? quotient - 1n : quotient + 1n;
}
