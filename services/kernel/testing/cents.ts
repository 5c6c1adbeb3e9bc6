import { parseDecimal } from "../values/money.ts";

/** Of an amount in a test, also one with a plus sign. */
export function cents(text: string): bigint {
  const minor = parseDecimal(text.replace(/^\+/, ""));
  if (minor === undefined) throw new Error(`${text} is not an amount.`);
  return minor;
}
