const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?$/;
/** Longer text is no price, volume or amount, and BigInt takes time that grows with the square of its digits. */
const MAX_TEXT_LENGTH = 40;

/** Decimal text as a whole number of units of 10^-digits, exactly; undefined when it is none or has a finer part. */
export function parseExact(text: string, digits: number): bigint | undefined {
  const parts = decimalParts(text);
  if (parts === undefined || /[^0]/.test(parts.fraction.slice(digits))) return undefined;
  return scaled(parts, digits);
}

/** As parseExact, but what is finer than a unit is rounded, half away from zero. */
export function parseRounded(text: string, digits: number): bigint | undefined {
  const parts = decimalParts(text);
  if (parts === undefined) return undefined;
  return divideHalfAway(scaled(parts, MAX_TEXT_LENGTH), 10n ** BigInt(MAX_TEXT_LENGTH - digits));
}

export function formatScaled(value: bigint, digits: number): string {
  const text = (value < 0n ? -value : value).toString().padStart(digits + 1, "0");
  const point = text.length - digits;
  return `${value < 0n ? "-" : ""}${text.slice(0, point)}${digits === 0 ? "" : `.${text.slice(point)}`}`;
}

/** Half a unit goes away from zero, so a profit and the same loss have the same size. */
export function divideHalfAway(numerator: bigint, denominator: bigint): bigint {
  const isNegative = numerator < 0n !== denominator < 0n;
  const dividend = numerator < 0n ? -numerator : numerator;
  const divisor = denominator < 0n ? -denominator : denominator;
  const quotient = (dividend * 2n + divisor) / (divisor * 2n);
  return isNegative ? -quotient : quotient;
}

type Parts = { readonly isNegative: boolean; readonly whole: string; readonly fraction: string };

function decimalParts(text: string): Parts | undefined {
  const match = text.length > MAX_TEXT_LENGTH ? null : DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = ""] = match;
  return { isNegative: sign === "-", whole, fraction };
}

function scaled({ isNegative, whole, fraction }: Parts, digits: number): bigint {
  const value = BigInt(whole + fraction.slice(0, digits).padEnd(digits, "0"));
  return isNegative ? -value : value;
}
