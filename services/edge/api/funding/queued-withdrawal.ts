import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount } from "#kernel/money.ts";
import { currencyReply } from "../../fields/currency.ts";
import { bool, choice, model, nullableInteger, nullableString, string } from "../../fields/field.ts";
import { always, at, ofWhole } from "../../fields/message.ts";
import { queuedStatus } from "../schemas/queue.ts";
import { investorLoginReply, moneyReply } from "../../fields/reply-fields.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { timestamp } from "../../wire/timestamp.ts";

const undecided = (what: string) =>
  always(
    nullableString({
      description: `${what}: null, because it is decided when the withdrawal is executed.`,
      example: null,
    }),
    null,
  );

/** The members of a withdrawal, before anything is decided. */
export const queuedWithdrawal = {
  returns: "The withdrawal waits until the Master is flat. Nothing was paid out.",
  reply: model("QueuedWithdrawal", "A withdrawal that waits until the Master is flat.", {
    status: queuedStatus,
    action: always(
      choice({ withdraw: "A withdrawal." }, { description: "What is to be done.", example: "withdraw" }),
      "withdraw",
    ),
    login: investorLoginReply(),
    requested_amount: moneyReply("Requested amount."),
    effective_withdraw: always(moneyReply("Amount paid out: 0.", 0), jsonInteger(0n)),
    currency: currencyReply,
    message: ofWhole(
      string({
        description: "What waits, and until when, in words.",
        example: "Queued until the Master is flat, at most until 2026-02-03T04:05:06.789000: 50.00 USD.",
      }),
      ({ requestedAmount, queuedUntil }: Pick<WithdrawResponse, "requestedAmount" | "queuedUntil">) =>
        `Queued until the Master is flat, at most until ${timestamp(queuedUntil)}: ${formatAmount(moneyFromProto(requestedAmount))}.`,
    ),
    check_open_positions: at(
      "openPositionsChecked",
      bool({ description: "Whether the Master's open positions were checked.", example: true }),
    ),
    perf_fee_pending_at_request: undecided("Pending performance fee before the withdrawal"),
    balance_before: undecided("Balance before the withdrawal"),
    available_after_perf_fee: undecided("Capital available after the fee was reserved"),
    mt5_deal_id: always(
      nullableInteger({ description: "Ticket of the payout: null, because there is none.", example: null }),
      null,
    ),
  }),
} as const;
