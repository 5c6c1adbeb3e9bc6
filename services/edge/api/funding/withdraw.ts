import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount, formatDecimal } from "#kernel/values/money.ts";
import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { bool, choice, model, nullableInteger, nullableString, string } from "../../fields/field.ts";
import { always, at, ofWhole, shown } from "../../fields/message.ts";
import { currencyReply, decimalReply, investorLoginReply, moneyReply } from "../../fields/reply-fields.ts";
import { Accepted, route } from "../../http/route.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { queuedStatus, queueQuery } from "../schemas/queue.ts";
import { jsonInteger } from "../../wire/number.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { movementQuery, ofClient, reportDuplicate } from "./movement.ts";
import { heldBackOf, outcomeText, payoutStatus } from "./withdrawal-text.ts";

const undecided = (what: string) =>
  always(
    nullableString({
      description: `${what}: null, because it is decided when the withdrawal is executed.`,
      example: null,
    }),
    null,
  );

/** The members of a withdrawal, before anything is decided. */
const queuedWithdrawal = {
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

export const WITHDRAW_COMMENT = "API Withdraw";

const HELD_BACK = "X-Held-Back";

const Withdrawal = model("Withdrawal", "A withdrawal that was executed, as far as money was available.", {
  status: at(
    "effectiveWithdraw",
    shown(
      choice(
        {
          success: "The requested amount was paid out, or what was available of it.",
          no_funds: "Nothing was available, so nothing was paid out.",
        },
        { description: "Whether money was paid out.", example: "success" },
      ),
      payoutStatus,
    ),
  ),
  action: always(
    choice({ withdraw: "A withdrawal." }, { description: "What was done.", example: "withdraw" }),
    "withdraw",
  ),
  login: investorLoginReply(),
  requested_amount: moneyReply("Requested amount."),
  effective_withdraw: moneyReply("Amount paid out; it can be less than requested, or 0."),
  currency: currencyReply,
  message: ofWhole(
    string({
      description: "What was withdrawn, why it was reduced, and how much is held back, in words.",
      example: "Withdrew 250.50 USD.",
    }),
    (done: WithdrawResponse) => outcomeText(done, done.requestedAmount, "executed"),
  ),
  check_open_positions: at(
    "openPositionsChecked",
    bool({ description: "Whether the Master's open positions were checked.", example: true }),
  ),
  perf_fee_pending_at_request: at("pendingFee", decimalReply("Pending performance fee before the withdrawal.")),
  balance_before: decimalReply("Balance before the withdrawal."),
  available_after_perf_fee: at(
    "availableAfterFee",
    decimalReply("Capital available after the fee was reserved, without funds under review (X-Held-Back)."),
  ),
  mt5_deal_id: at(
    "dealId",
    nullableInteger({
      description: "Ticket of the payout on the platform; null when nothing was paid out.",
      example: 1234568,
    }),
  ),
});

export const withdrawFunds = route("POST /api/v1/investor/withdraw", {
  scope: "funds:withdraw",
  summary: "Withdraw funds from an Investor",
  description:
    "Collects pending performance fees, then pays out the requested amount or, if less, the available amount. Refused while the Master has open positions, or queued until it is flat (`on_blocked=queue`). Parameters are in the query; a JSON body may have `external_id` and `metadata`, anything else in it is ignored.",
  returns: "What was paid out; with status `no_funds`, nothing was.",
  query: { ...movementQuery(WITHDRAW_COMMENT), ...queueQuery },
  body: operationLabelFields,
  hasOptionalBody: true,
  reply: Withdrawal,
  refusals: [
    "investor_not_found",
    "master_open_positions",
    "allocation_in_progress",
    "exit_in_progress",
    "investor_deficit",
    "insufficient_funds",
    "operation_in_progress",
    "possible_duplicate",
    "account_archived",
    "account_busy",
    "platform_rejected",
    "platform_unavailable",
    "safety_stop",
    "too_many_queued",
    "cancelled",
    "expired",
  ],
  headers: ["X-Possible-Duplicate-Of", HELD_BACK],
  accepted: queuedWithdrawal,

  async handle({ funding }, { request }, context) {
    const { idempotencyKey } = context;
    const sent = { ...ofClient(request, context, WITHDRAW_COMMENT), idempotencyKey };
    const done = { ...request, ...(await funding.withdraw(sent, context)) };
    context.reportOperation(done.operationId);
    reportDuplicate(context, done);
    if (done.queuedUntil !== undefined) return new Accepted(queuedWithdrawal.reply.of(done));
    const heldBack = heldBackOf(done);
    if (heldBack.minor > 0n) {
      context.setHeader(
        HELD_BACK,
        `${formatDecimal(heldBack)};currency=${heldBack.currency};reason=funds_under_review`,
      );
    }
    return Withdrawal.of(done);
  },
});
