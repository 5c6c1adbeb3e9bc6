import type { Money as MoneyMessage } from "#proto/pamm/common/v1/money.ts";
import { type Money, usd } from "../money.ts";
import { refuse } from "./refusals.ts";

export function moneyToProto({ currency, minor }: Money): MoneyMessage {
  return { currencyCode: currency, minorUnits: minor };
}

/** `field` names the amount in the refusal as the caller knows it. */
export function moneyFromProto(message: MoneyMessage | undefined, field = "amount"): Money {
  if (message === undefined) {
    const problem = `${field} is required.`;
    throw refuse("amount_missing", `Field ${field} is required.`, {
      errors: [{ field, code: "required", message: problem }],
    });
  }
  if (message.currencyCode !== "USD") {
    const problem = `${field} must be in USD.`;
    throw refuse("currency_not_supported", `Field ${field} must be in USD.`, {
      errors: [{ field, code: "currency_not_supported", message: problem }],
    });
  }
  return usd(message.minorUnits);
}
