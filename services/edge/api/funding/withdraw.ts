import { Type } from "typebox";
import { formatDecimal, isPositive } from "#kernel/money.ts";
import { currencyReply } from "../../fields/currency.ts";
import { bool, choice, model, nullableInteger, string } from "../../fields/field.ts";
import { decimalReply, investorLoginReply, moneyReply } from "../schemas/reply-fields.ts";
import { labelsOf, operationLabelFields } from "../schemas/labels.ts";
import { queueQuery, queueTime } from "../schemas/queue.ts";
import { Accepted, route } from "../../http/route.ts";
import { queuedAnswer, queuedWithdrawal } from "./queued-withdrawal.ts";
import { movementOf, movementQuery, reportDuplicate } from "./movement.ts";
import { heldBackOf, outcomeText } from "./withdrawal-text.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber, moneyText } from "../../wire/money.ts";

export const WITHDRAW_COMMENT = "API Withdraw";

const HELD_BACK = "X-Held-Back";

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
  query: Type.Object({ ...movementQuery(WITHDRAW_COMMENT).properties, ...queueQuery }),
  body: Type.Object(operationLabelFields),
  hasOptionalBody: true,
  reply: model("Withdrawal", "A withdrawal that was executed, as far as money was available.", {
    status: choice(
      {
        success: "The requested amount was paid out, or what was available of it.",
        no_funds: "Nothing was available, so nothing was paid out.",
      },
      { description: "Whether money was paid out.", example: "success" },
    ),
    action: choice({ withdraw: "A withdrawal." }, { description: "What was done.", example: "withdraw" }),
    login: investorLoginReply(),
    requested_amount: moneyReply("Requested amount."),
    effective_withdraw: moneyReply("Amount paid out; it can be less than requested, or 0."),
    currency: currencyReply,
    message: string({
      description: "What was withdrawn, why it was reduced, and how much is held back, in words.",
      example: "Withdrew 250.50 USD.",
    }),
    check_open_positions: bool({ description: "Whether the Master's open positions were checked.", example: true }),
    perf_fee_pending_at_request: decimalReply("Pending performance fee before the withdrawal."),
    balance_before: decimalReply("Balance before the withdrawal."),
    available_after_perf_fee: decimalReply(
      "Capital available after the fee was reserved, without funds under review (X-Held-Back).",
    ),
    mt5_deal_id: nullableInteger({
      description: "Ticket of the payout on the platform; null when nothing was paid out.",
      example: 1234568,
    }),
  }),
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

  async handle({ funding }, { query, body }, context) {
    const movement = movementOf({ ...query, labels: labelsOf(body) }, context, WITHDRAW_COMMENT);
    const done = await funding.withdraw({ ...movement, ...queueTime(query) }, context);
    context.reportOperation(done.operationId);
    reportDuplicate(context, done.possibleDuplicateOf);
    if (done.queuedUntil !== undefined) return new Accepted(queuedAnswer(query.login, done));
    const heldBack = heldBackOf(done);
    if (isPositive(heldBack)) {
      context.setHeader(
        HELD_BACK,
        `${formatDecimal(heldBack)};currency=${heldBack.currency};reason=funds_under_review`,
      );
    }
    return {
      ...outcomeText(done, done.requestedAmount, heldBack, "executed"),
      action: "withdraw" as const,
      login: query.login,
      requested_amount: moneyNumber(done.requestedAmount),
      effective_withdraw: moneyNumber(done.effectiveWithdraw),
      currency: "USD",
      check_open_positions: done.openPositionsChecked,
      perf_fee_pending_at_request: moneyText(done.pendingFee),
      balance_before: moneyText(done.balanceBefore),
      available_after_perf_fee: moneyText(done.availableAfterFee),
      mt5_deal_id: done.dealId === undefined ? null : jsonInteger(done.dealId),
    };
  },
});
