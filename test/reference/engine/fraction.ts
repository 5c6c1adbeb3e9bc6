/** An exact rational number, the denominator positive. In lowest terms only after `reduced`. */
export type Fraction = { readonly top: bigint; readonly bottom: bigint };

export const ZERO: Fraction = { top: 0n, bottom: 1n };
export const ONE: Fraction = { top: 1n, bottom: 1n };

/** Reducing is the most expensive step, so it is delayed until numbers are long. */
const LONG = 1n << 512n;

export function fraction(top: bigint, bottom = 1n): Fraction {
  if (bottom === 0n) throw new Error(`${top} / 0`);
  if (bottom < 0n) return fraction(-top, -bottom);
  return bottom < LONG ? { top, bottom } : reduced({ top, bottom });
}

export function reduced({ top, bottom }: Fraction): Fraction {
  const common = greatestCommonDivisor(top < 0n ? -top : top, bottom);
  return { top: top / common, bottom: bottom / common };
}

export function plus(a: Fraction, b: Fraction): Fraction {
  if (a.bottom === b.bottom) return fraction(a.top + b.top, a.bottom);
  return fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

export function negative(a: Fraction): Fraction {
  return { top: -a.top, bottom: a.bottom };
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return plus(a, negative(b));
}

export function times(a: Fraction, b: Fraction): Fraction {
  return fraction(a.top * b.top, a.bottom * b.bottom);
}

export function over(a: Fraction, b: Fraction): Fraction {
  return fraction(a.top * b.bottom, a.bottom * b.top);
}

export function total(parts: Iterable<Fraction>): Fraction {
  let sum = ZERO;
  for (const part of parts) sum = plus(sum, part);
  return sum;
}

/** Negative, 0 or positive, as a is below, at or above b. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.top * b.bottom - b.top * a.bottom;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

export function isZero(a: Fraction): boolean {
  return a.top === 0n;
}

export function isPositive(a: Fraction): boolean {
  return a.top > 0n;
}

export function larger(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? b : a;
}

export function smaller(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? a : b;
}

export function distance(a: Fraction, b: Fraction): Fraction {
  const difference = minus(a, b);
  return difference.top < 0n ? negative(difference) : difference;
}

/** The whole number at or below. */
export function floor({ top, bottom }: Fraction): bigint {
  const towardsZero = top / bottom;
  return top < 0n && towardsZero * bottom !== top ? towardsZero - 1n : towardsZero;
}

export function towardsZero({ top, bottom }: Fraction): bigint {
  return top / bottom;
}

/** The nearest whole number, a half upwards. */
export function nearest(a: Fraction): bigint {
  return floor(plus(a, fraction(1n, 2n)));
}

/** For messages: with six decimals, truncated. */
export function show(a: Fraction): string {
  const millionths = towardsZero(times(a, fraction(1_000_000n)));
  const sign = millionths < 0n ? "-" : "";
  const digits = (millionths < 0n ? -millionths : millionths).toString().padStart(7, "0");
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger_, smaller_] = [a, b];
  while (smaller_ !== 0n) [larger_, smaller_] = [smaller_, larger_ % smaller_];
  return larger_ === 0n ? 1n : larger_;
}
