import { formatAmount, type Money } from "#kernel/values/money.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";
import type { Investor } from "./master.ts";

/** What lists show in place of a name that was erased; the function of the migration writes the same. */
export const ERASED = "erased";

export type Erasure = {
  readonly login: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  /** Undefined until the trading platform has erased it, too. */
  readonly erasedAt: Date | undefined;
  /** Undefined until the trading platform was asked. */
  readonly onPlatform: boolean | undefined;
};

export type FinishedErasure = Erasure & { readonly erasedAt: Date; readonly onPlatform: boolean };

export function isFinished(erasure: Erasure): erasure is FinishedErasure {
  return erasure.erasedAt !== undefined && erasure.onPlatform !== undefined;
}

/** What is known of an Investor that is to be erased. */
export type ClosingFacts = {
  /** Login of the Master, and the status, of a subscription that has not ended. */
  readonly subscription: { readonly masterLogin: string; readonly status: string } | undefined;
  readonly balance: Money;
  readonly credit: Money;
  readonly openPositions: number;
  readonly operationOpen: boolean;
};

/** Refuses with all reasons at once. Erasing moves no money, but who still has some must be found by name. */
export function decideClosed({ login }: Pick<Investor, "login">, facts: ClosingFacts): void {
  const { subscription, balance, credit, openPositions, operationOpen } = facts;
  const reasons: (readonly [code: string, message: string] | undefined)[] = [
    subscription && [
      "subscription_open",
      `The subscription to Master ${subscription.masterLogin} is ${subscription.status}.`,
    ],
    balance.minor === 0n ? undefined : ["balance_not_zero", `The balance is ${formatAmount(balance)}.`],
    credit.minor === 0n ? undefined : ["credit_not_zero", `The credit is ${formatAmount(credit)}.`],
    openPositions === 0 ? undefined : ["open_positions", `The account has open positions: ${openPositions}.`],
    operationOpen ? ["operation_open", "An operation on the account is in progress or in review."] : undefined,
  ];
  const errors = reasons
    .filter((reason) => reason !== undefined)
    .map(([code, message]): FieldError => ({ field: "investor_login", code, message }));
  if (errors.length === 0) return;
  const codes = errors.map(({ code }) => code).join(", ");
  throw refuse("investor_not_closed", `Investor ${login} is not closed (${codes}).`, {
    errors,
    outcome: "not_executed",
  });
}
