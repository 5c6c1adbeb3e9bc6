/** An exact rational number, the denominator positive. In lowest terms only after `reduced`. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

export const ZERO: Fraction = { numerator: 0n, denominator: 1n };
export const ONE: Fraction = { numerator: 1n, denominator: 1n };

/** Reducing is the most expensive operation on fractions, so it is delayed until the numbers are long. */
const LONG = 1n << 512n;

export function fraction(numerator: bigint, denominator = 1n): Fraction {
  if (denominator === 0n) throw new Error(`${numerator} / 0`);
  if (denominator < 0n) return fraction(-numerator, -denominator);
  return denominator < LONG ? { numerator, denominator } : reduced({ numerator, denominator });
}

export function reduced({ numerator, denominator }: Fraction): Fraction {
  const common = greatestCommonDivisor(numerator < 0n ? -numerator : numerator, denominator);
  return { numerator: numerator / common, denominator: denominator / common };
}

export function plus(a: Fraction, b: Fraction): Fraction {
  if (a.denominator === b.denominator) return fraction(a.numerator + b.numerator, a.denominator);
  return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

export function negative(a: Fraction): Fraction {
  return { numerator: -a.numerator, denominator: a.denominator };
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return plus(a, negative(b));
}

export function times(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.numerator, a.denominator * b.denominator);
}

export function over(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator, a.denominator * b.numerator);
}

export function total(parts: Iterable<Fraction>): Fraction {
  let sum = ZERO;
  for (const part of parts) sum = plus(sum, part);
  return sum;
}

/** Negative, 0 or positive, as a is below, at or above b. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

export function isZero(a: Fraction): boolean {
  return a.numerator === 0n;
}

export function isPositive(a: Fraction): boolean {
  return a.numerator > 0n;
}

export function larger(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? b : a;
}

export function smaller(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? a : b;
}

export function distance(a: Fraction, b: Fraction): Fraction {
  const difference = minus(a, b);
  return difference.numerator < 0n ? negative(difference) : difference;
}

/** The whole number at or below. */
export function floor({ numerator, denominator }: Fraction): bigint {
  const towardsZero = numerator / denominator;
  return numerator < 0n && towardsZero * denominator !== numerator ? towardsZero - 1n : towardsZero;
}

export function towardsZero({ numerator, denominator }: Fraction): bigint {
  return numerator / denominator;
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
