const E8_DECIMALS = 8;
const MIN_DECIMALS = 2;

/** At least two decimals, and no zeros after those: 180.00, 11.11332222. */
export function formatExact(units: bigint, decimals = E8_DECIMALS): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "").padEnd(MIN_DECIMALS, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -decimals)}.${fraction}`;
}

const DECIMAL = /^(-?)(\d+)\.(\d+)$/;

/** Reads what `formatExact` has written; undefined for other text. */
export function parseExact(text: string, decimals = E8_DECIMALS): bigint | undefined {
  const [, sign, whole = "", fraction = ""] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || fraction.length > decimals) return undefined;
  const units = BigInt(`${whole}${fraction.padEnd(decimals, "0")}`);
  return sign === "-" ? -units : units;
}
