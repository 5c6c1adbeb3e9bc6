import type { Static } from "typebox";
import { Refusal } from "#kernel/refusal.ts";
import type { GetBalanceResponse } from "#proto/pamm/funding/v1/funding.ts";
import { moneyNumber } from "../../wire/money.ts";
import { bool, model, nullableDecimal, nullableString, string } from "../../fields/field.ts";

export const Balance = model("Balance", "The balance of an account.", {
  mt5_login: string({ description: "Requested login.", example: "3000003" }),
  balance: nullableDecimal({ description: "Balance in USD; null when it could not be read.", example: 250.5 }),
  ok: bool({ description: "Whether the balance could be read.", example: true }),
  error: nullableString({ description: "Why the balance could not be read; null when it was.", example: null }),
});

export function balanceReply({ login, balance, error }: GetBalanceResponse): Static<typeof Balance> {
  const ok = balance !== undefined && error === "";
  return {
    mt5_login: login,
    balance: balance === undefined ? null : moneyNumber(balance),
    ok,
    error: ok ? null : error,
  };
}

/** What is known of a balance when funding has refused to answer. Everything else is a fault. */
export function unreadBalance(login: string, cause: unknown): GetBalanceResponse {
  if (!(cause instanceof Refusal) || cause.status === "internal") throw cause;
  return { login, balance: undefined, error: "The balance cannot be read now.", isUnknown: false };
}
