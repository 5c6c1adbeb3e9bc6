const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?$/;
/** More than any decimal of the API has. */
const SCALE = 18;
const RATIO_DECIMALS = 4;
const GROWTH_DECIMALS = 6;
const PERCENT_DIGITS = 2;
const MINUS = "−";
/** Of a percentage, where several stand below each other. */
export const SHARE_DECIMALS = RATIO_DECIMALS - PERCENT_DIGITS;
export const CHANGE_DECIMALS = GROWTH_DECIMALS - PERCENT_DIGITS;

/** A decimal of the API in units of its eighteenth digit; undefined when it is none. */
function scaled(decimal: string): bigint | undefined {
  const [, sign, whole, digits = ""] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined || digits.length > SCALE) return undefined;
  const value = BigInt(whole + digits.padEnd(SCALE, "0"));
  return sign === "-" ? -value : value;
}

/** The shortest text of it, with two decimals at least. */
function textOf(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, "0");
  const decimals = digits.slice(-SCALE).replace(/0+$/, "").padEnd(2, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -SCALE)}.${decimals}`;
}

/** Null adds nothing. */
export function addDecimals(decimals: readonly (string | null)[]): string {
  return textOf(decimals.reduce((sum, decimal) => sum + (scaled(decimal ?? "0") ?? 0n), 0n));
}

/** Of the amounts without their signs. */
export function grossOf(decimals: readonly (string | null)[]): string {
  return addDecimals(decimals.map((decimal) => decimal?.replace(/^-/, "") ?? null));
}

export function subtractDecimals(decimal: string, less: string): string {
  return textOf((scaled(decimal) ?? 0n) - (scaled(less) ?? 0n));
}

/** Negative, zero or positive, as sorting needs it. */
export function compareDecimals(left: string, right: string): number {
  const difference = (scaled(left) ?? 0n) - (scaled(right) ?? 0n);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** `amount × units ÷ all`, cut off after the given decimals; undefined when there is nothing to divide by. */
export function partOf(amount: string, units: string, all: string, decimals: number): string | undefined {
  const [first, second, third] = [scaled(amount), scaled(units), scaled(all)];
  if (first === undefined || second === undefined || third === undefined || third === 0n) return undefined;
  const cut = 10n ** BigInt(SCALE - decimals);
  return textOf(((first * second) / third / cut) * cut);
}

/** A part of a whole as the API has ratios: `0.25`; undefined without a whole. */
export function ratioOf(part: string, whole: string): string | undefined {
  return partOf("1", part, whole, RATIO_DECIMALS);
}

/** How a value has grown since another one, as the API has returns: `0.045` is 4.5 %. */
export function growthOf(from: string, to: string): string | undefined {
  const grown = partOf("1", subtractDecimals(to, from), from, GROWTH_DECIMALS);
  return scaled(from) === 0n ? undefined : grown;
}

/**
 * A ratio as it is shown: `0.0123` is `1.23 %`. Only the point of the text moves, so no digit can change. Those of one column have the same
 * decimals, as many as the API can send; a single one ends with its last digit.
 */
export function formatRatio(ratio: string, decimals = 0): string {
  const [, , whole, digits = ""] = DECIMAL.exec(ratio) ?? [];
  if (whole === undefined) return ratio;
  const moved = digits.padEnd(PERCENT_DIGITS, "0");
  const percent = `${whole}${moved.slice(0, PERCENT_DIGITS)}`.replace(/^0+(?=\d)/, "");
  const rest = moved.slice(PERCENT_DIGITS).replace(/0+$/, "").padEnd(decimals, "0");
  return `${isNegative(ratio) ? MINUS : ""}${percent}${rest === "" ? "" : `.${rest}`} %`;
}

/** An amount of the API as it is shown: `-1234.5` is `−1,234.50`. Only text is handled, so no digit can change. */
export function formatAmount(amount: string): string {
  const [, , whole, decimals = ""] = DECIMAL.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const shown = `${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",")}.${decimals.padEnd(2, "0")}`;
  return isNegative(amount) ? MINUS + shown : shown;
}

export function isZero(decimal: string): boolean {
  return !/[1-9]/.test(decimal);
}

export function isNegative(decimal: string): boolean {
  return decimal.startsWith("-") && !isZero(decimal);
}

/** Where it stands on an axis; a plot shows positions only, and values as the API sent them. */
export function positionOf(decimal: string | null): number | null {
  if (decimal === null) return null;
  const position = Number(decimal);
  return Number.isFinite(position) ? position : null;
}
