import type { Money as MoneyMessage } from "#proto/pamm/common/v1/money.ts";
import { type Money, usd } from "../values/money.ts";
import { refuse } from "./refusals.ts";

export function moneyToProto({ currency, minor }: Money): MoneyMessage {
  return { currencyCode: currency, minorUnits: minor };
}

/** Of cents. */
export function usdToProto(minor: bigint): MoneyMessage {
  return moneyToProto(usd(minor));
}

/** `field` names the amount in the refusal as the caller knows it. */
export function moneyFromProto(message: MoneyMessage | undefined, field = "amount"): Money {
  const invalid = (code: "amount_missing" | "currency_not_supported", problem: string, error: string = code) =>
    refuse(code, `Field ${field} ${problem}.`, { errors: [{ field, code: error, message: `${field} ${problem}.` }] });
  if (message === undefined) throw invalid("amount_missing", "is required", "required");
  if (message.currencyCode !== "USD") throw invalid("currency_not_supported", "must be in USD");
  return usd(message.minorUnits);
}
