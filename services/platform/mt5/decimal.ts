/** Digits of the accounts' currency. */
const MINOR_DIGITS = 2;
const DECIMAL = /^(-?)(\d{1,18})(?:\.(\d{1,20}))?$/;

/** Decimal text as minor units, exactly; undefined when it is not decimal, or finer than a minor unit. */
export function exactMinor(text: string): bigint | undefined {
  const parts = partsOf(text);
  return parts === undefined || /[1-9]/.test(parts.finer) ? undefined : parts.minor;
}

/** The same for values that are shown and never booked: what is finer is rounded, half to even. */
export function roundedMinor(text: string): bigint | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const isHalf = /^50*$/.test(parts.finer);
  const size = parts.minor < 0n ? -parts.minor : parts.minor;
  const isUp = isHalf ? size % 2n === 1n : /^[5-9]/.test(parts.finer);
  const rounded = isUp ? size + 1n : size;
  return parts.isNegative ? -rounded : rounded;
}

/** Always with the currency's digits, as the platform wants amounts. */
export function formatMinor(minor: bigint): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(MINOR_DIGITS + 1, "0");
  return `${minor < 0n ? "-" : ""}${digits.slice(0, -MINOR_DIGITS)}.${digits.slice(-MINOR_DIGITS)}`;
}

function partsOf(text: string): { isNegative: boolean; minor: bigint; finer: string } | undefined {
  const [, sign, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const size = BigInt(whole + fraction.slice(0, MINOR_DIGITS).padEnd(MINOR_DIGITS, "0"));
  return { isNegative: sign === "-", minor: sign === "-" ? -size : size, finer: fraction.slice(MINOR_DIGITS) };
}
