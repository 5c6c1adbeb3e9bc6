const E8_DECIMALS = 8;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
/** Bounds the work: the time that BigInt needs grows with the square of the digits. */
export const MAX_TEXT_LENGTH = 64;

/** Units of 10^-decimals with exactly those decimals, no grouping: -0.05, 100.00. */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** At least two decimals, and no zeros after those: 180.00, 11.11332222. */
export function formatExact(units: bigint, decimals = E8_DECIMALS): string {
  return formatUnits(units, decimals).replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** Decimal text such as 100, 100.5 or -100.50 in units of 10^-decimals; undefined when it is none, or has more decimals, be they zeros. */
export function parseExact(text: string, decimals = E8_DECIMALS): bigint | undefined {
  const [, sign, whole, fraction = ""] = (text.length <= MAX_TEXT_LENGTH && DECIMAL.exec(text)) || [];
  if (whole === undefined || fraction.length > decimals) return undefined;
  const units = BigInt(whole + fraction.padEnd(decimals, "0"));
  return sign === "-" ? -units : units;
}
