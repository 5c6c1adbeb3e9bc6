import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { formatDecimal, parseAmount, usd } from "#kernel/money.ts";
import type { Money as MoneyMessage } from "#proto/pamm/common/v1/money.ts";
import assert from "node:assert/strict";
import type { JsonNumber } from "./json-number.ts";
import { centsNumber } from "./scaled.ts";

/** Cents as a JSON number in its shortest form: 100, 100.5, 100.55. */
export function moneyNumber(message: MoneyMessage | undefined): JsonNumber {
  return centsNumber(moneyFromProto(message).minor);
}

/** Always two decimals: 100.00. */
export function moneyText(message: MoneyMessage | undefined): string {
  return formatDecimal(moneyFromProto(message));
}

/** Text that the schema has found to be an amount. */
export function moneyOf(text: string | undefined): MoneyMessage {
  const parsed = parseAmount(text ?? "");
  assert(parsed.ok, "the schema has checked the amount");
  return moneyToProto(usd(parsed.minor));
}
