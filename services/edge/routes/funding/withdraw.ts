import { Type } from "typebox";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount, formatDecimal, isLess, isPositive, isZero, type Money, subtract } from "#kernel/money.ts";
import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { bool, nullableInteger, string } from "../../schemas/field.ts";
import { decimalReply, loginReply, moneyReply } from "../../schemas/reply-fields.ts";
import { route } from "../../route.ts";
import { movementOf, movementQuery, reportDuplicate } from "./movement.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber, moneyText } from "../../wire/money.ts";

const DEFAULT_COMMENT = "API Withdraw";

/** Declared for the documentation where the route is. */
const HELD_BACK = "X-Held-Back";

export const withdraw = route({
  method: "POST",
  url: "/api/v1/investor/withdraw",
  scope: "funds:withdraw",
  class: "money",
  tag: "Funds",
  summary: "Withdraw funds from an Investor",
  description:
    "Collects pending performance fees, then pays out the requested amount or, if less, the available amount. Refused while the Master has open positions. Parameters are in the query; a body is ignored.",
  query: movementQuery(DEFAULT_COMMENT),
  reply: Type.Object({
    status: string({ description: "`success`, or `no_funds` when nothing was paid out.", example: "success" }),
    action: string({ description: "Always `withdraw`.", example: "withdraw" }),
    login: loginReply("Login of the Investor."),
    requested_amount: moneyReply("Requested amount."),
    effective_withdraw: moneyReply("Amount paid out; it can be less than requested, or 0."),
    currency: string({ description: "Always `USD`.", example: "USD" }),
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
  replyHeaders: {
    [HELD_BACK]: {
      type: "string",
      pattern: "^[0-9]+\\.[0-9]{2};currency=USD;reason=funds_under_review$",
      description:
        "Part of the balance that is neither fee nor available, with the reason: external funds that this service did not book await a review. Missing when there is none. A structured field (RFC 9651).",
      examples: ["500.00;currency=USD;reason=funds_under_review"],
    },
  },
  refusals: [
    "investor_not_found",
    "master_open_positions",
    "allocation_in_progress",
    "exit_in_progress",
    "investor_deficit",
    "insufficient_funds",
    "operation_in_progress",
    "possible_duplicate",
    "account_busy",
    "platform_rejected",
    "platform_unavailable",
    "safety_stop",
  ],

  async handle({ funding }, { query }, context) {
    const done = await funding.withdraw(movementOf(query, context, DEFAULT_COMMENT), context);
    context.reportOperation(done.operationId);
    reportDuplicate(context, done.possibleDuplicateOf);
    const heldBack = heldBackOf(done);
    if (isPositive(heldBack)) {
      context.setHeader(
        HELD_BACK,
        `${formatDecimal(heldBack)};currency=${heldBack.currency};reason=funds_under_review`,
      );
    }
    return {
      ...outcomeText(done, heldBack),
      action: "withdraw",
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

function outcomeText(done: WithdrawResponse, heldBack: Money): { status: string; message: string } {
  const [paid, requested] = [moneyFromProto(done.effectiveWithdraw), moneyFromProto(done.requestedAmount)];
  if (isZero(paid)) {
    const balance = formatAmount(moneyFromProto(done.balanceBefore));
    const why = notAvailable(done, heldBack);
    return { status: "no_funds", message: `Balance is ${balance}; nothing was withdrawn${why}.` };
  }
  if (!isLess(paid, requested)) {
    const rest = isPositive(heldBack) ? ` Held back: funds under review ${formatAmount(heldBack)}.` : "";
    return { status: "success", message: `Withdrew ${formatAmount(paid)}.${rest}` };
  }
  const ofRequested = `${formatAmount(paid)} of ${formatAmount(requested)}`;
  const why = notAvailable(done, heldBack);
  return { status: "success", message: `Withdrew ${ofRequested}: the full available amount${why}.` };
}

/** Why the balance was not available: the performance fee, and external funds that await a decision. */
function notAvailable(done: WithdrawResponse, heldBack: Money): string {
  const fee = moneyFromProto(done.pendingFee);
  const reasons = [
    ...(isPositive(fee) ? [`performance fee ${formatAmount(fee)}`] : []),
    ...(isPositive(heldBack) ? [`funds under review ${formatAmount(heldBack)}`] : []),
  ];
  return reasons.length === 0 ? "" : ` (not available: ${reasons.join(", ")})`;
}

/** What is left of the balance after the fee, and not available. Not above zero when there is nothing. */
function heldBackOf(done: WithdrawResponse): Money {
  const afterFee = subtract(moneyFromProto(done.balanceBefore), moneyFromProto(done.pendingFee));
  return subtract(afterFee, moneyFromProto(done.availableAfterFee));
}
