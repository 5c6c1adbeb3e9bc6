const AMOUNT = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/** Cents of an amount: `"250.5"` is `25050n`. Throws when the text has more than two decimals or is not a number. */
export function toMinor(amount: string): bigint {
  const [, sign, whole, cents = ""] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) throw new RangeError(`"${amount}" is not an amount with at most two decimals`);
  const minor = BigInt(whole) * 100n + BigInt(cents.padEnd(2, "0"));
  return sign === "-" ? -minor : minor;
}

/** The amount with two decimals: `25050n` is `"250.50"`. */
export function fromMinor(minor: bigint): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(3, "0");
  return `${minor < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
