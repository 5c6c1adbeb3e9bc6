import { formatDecimal, parseDecimal, usd } from "#kernel/money.ts";

export function cents(text: string): bigint {
  const minor = parseDecimal(text.replace(/^\+/, ""));
  if (minor === undefined) throw new Error(`${text} is not an amount.`);
  return minor;
}

export function formatCents(minor: bigint): string {
  return formatDecimal(usd(minor));
}
