const AMOUNT = /^([+-]?)(\d+)(?:\.(\d+))?$/;
const MINUS = "−";

/** An amount of the API as it is shown: `-1234.5` is `−1,234.50`. Only text is handled, so no digit can change. */
export function formatAmount(amount: string): string {
  const [, sign, whole, decimals = ""] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const shown = `${groupDigits(whole)}.${decimals.padEnd(2, "0")}`;
  return sign === "-" && /[1-9]/.test(amount) ? MINUS + shown : shown;
}

export function groupDigits(digits: string): string {
  return digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Whole cents as text, the form of evidence: `-5000` is `-50.00`. */
export function amountOfCents(cents: string): string {
  const [, sign, digits] = /^(-?)(\d+)$/.exec(cents) ?? [];
  if (digits === undefined) return cents;
  const padded = digits.padStart(3, "0");
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}`;
}

export function isZero(amount: string): boolean {
  return !/[1-9]/.test(amount);
}

export function isNegative(amount: string): boolean {
  return amount.startsWith("-") && !isZero(amount);
}
