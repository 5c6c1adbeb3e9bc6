import { Type } from "typebox";
import { formatDecimal, isPositive } from "#kernel/money.ts";
import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { currencyReply } from "../../fields/currency.ts";
import { bool, choice, model, nullableInteger, string } from "../../fields/field.ts";
import { always, at, ofWhole, shown } from "../../fields/message.ts";
import { decimalReply, investorLoginReply, moneyReply } from "../../fields/reply-fields.ts";
import { operationLabelFields } from "../schemas/labels.ts";
import { queueQuery } from "../schemas/queue.ts";
import { Accepted, route } from "../../http/route.ts";
import { queuedWithdrawal } from "./queued-withdrawal.ts";
import { movementQuery, ofClient, reportDuplicate } from "./movement.ts";
import { heldBackOf, outcomeText, payoutStatus } from "./withdrawal-text.ts";

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

export const withdraw = route({
  operationId: "withdrawFunds",
  method: "POST",
  url: "/api/v1/investor/withdraw",
  scope: "funds:withdraw",
  class: "money",
  tag: "Funds",
  summary: "Withdraw funds from an Investor",
  description:
    "Collects pending performance fees, then pays out the requested amount or, if less, the available amount. Refused while the Master has open positions, or queued until it is flat (`on_blocked=queue`). Parameters are in the query; a JSON body may have `external_id` and `metadata`, anything else in it is ignored.",
  returns: "What was paid out; with status `no_funds`, nothing was.",
  query: Type.Object({ ...movementQuery(WITHDRAW_COMMENT), ...queueQuery }),
  body: Type.Object(operationLabelFields),
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
    if (isPositive(heldBack)) {
      context.setHeader(
        HELD_BACK,
        `${formatDecimal(heldBack)};currency=${heldBack.currency};reason=funds_under_review`,
      );
    }
    return Withdrawal.of(done);
  },
});
