import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount } from "#kernel/money.ts";
import { currencyReply } from "../../fields/currency.ts";
import { bool, choice, model, nullableInteger, nullableString, string } from "../../fields/field.ts";
import { queuedStatus } from "../schemas/queue.ts";
import { investorLoginReply, moneyReply } from "../schemas/reply-fields.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";

const undecided = (what: string) =>
  nullableString({
    description: `${what}: null, because it is decided when the withdrawal is executed.`,
    example: null,
  });

/** The members of a withdrawal, before anything is decided. */
export const queuedWithdrawal = {
  returns: "The withdrawal waits until the Master is flat. Nothing was paid out.",
  reply: model("QueuedWithdrawal", "A withdrawal that waits until the Master is flat.", {
    status: queuedStatus,
    action: choice({ withdraw: "A withdrawal." }, { description: "What is to be done.", example: "withdraw" }),
    login: investorLoginReply(),
    requested_amount: moneyReply("Requested amount."),
    effective_withdraw: moneyReply("Amount paid out: 0.", 0),
    currency: currencyReply,
    message: string({
      description: "What waits, and until when, in words.",
      example: "Queued until the Master is flat, at most until 2026-02-03T04:05:06.789000: 50.00 USD.",
    }),
    check_open_positions: bool({ description: "Whether the Master's open positions were checked.", example: true }),
    perf_fee_pending_at_request: undecided("Pending performance fee before the withdrawal"),
    balance_before: undecided("Balance before the withdrawal"),
    available_after_perf_fee: undecided("Capital available after the fee was reserved"),
    mt5_deal_id: nullableInteger({ description: "Ticket of the payout: null, because there is none.", example: null }),
  }),
} as const;

export function queuedAnswer(login: string, { requestedAmount, queuedUntil, openPositionsChecked }: WithdrawResponse) {
  const amount = formatAmount(moneyFromProto(requestedAmount));
  const until = queuedUntil === undefined ? "" : `, at most until ${timestamp(queuedUntil)}`;
  return {
    status: "queued" as const,
    action: "withdraw" as const,
    login,
    requested_amount: moneyNumber(requestedAmount),
    effective_withdraw: moneyNumber({ currencyCode: "USD", minorUnits: 0n }),
    currency: "USD",
    message: `Queued until the Master is flat${until}: ${amount}.`,
    check_open_positions: openPositionsChecked,
    perf_fee_pending_at_request: null,
    balance_before: null,
    available_after_perf_fee: null,
    mt5_deal_id: null,
  };
}
