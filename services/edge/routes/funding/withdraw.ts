import { Type } from "typebox";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount, isLess, isPositive, isZero, subtract } from "#kernel/money.ts";
import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { bool, nullableInteger, string } from "../../schemas/field.ts";
import { decimalReply, loginReply, moneyReply } from "../../schemas/reply-fields.ts";
import { route } from "../../route.ts";
import { movementOf, movementQuery, reportDuplicate } from "./movement.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber, moneyText } from "../../wire/money.ts";

const DEFAULT_COMMENT = "API Withdraw";

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
      description: "What was withdrawn, and why it was reduced, in one sentence.",
      example: "Withdrew 250.50 USD.",
    }),
    check_open_positions: bool({ description: "Whether the Master's open positions were checked.", example: true }),
    perf_fee_pending_at_request: decimalReply("Pending performance fee before the withdrawal."),
    balance_before: decimalReply("Balance before the withdrawal."),
    available_after_perf_fee: decimalReply("Capital available after the fee was reserved."),
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
    "account_busy",
    "platform_rejected",
    "platform_unavailable",
    "safety_stop",
  ],

  async handle({ funding }, { query }, context) {
    const done = await funding.withdraw(movementOf(query, context, DEFAULT_COMMENT), context);
    context.reportOperation(done.operationId);
    reportDuplicate(context, done.possibleDuplicateOf);
    return {
      ...outcomeText(done),
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

function outcomeText(done: WithdrawResponse): { status: string; message: string } {
  const [paid, requested] = [moneyFromProto(done.effectiveWithdraw), moneyFromProto(done.requestedAmount)];
  if (isZero(paid)) {
    const balance = formatAmount(moneyFromProto(done.balanceBefore));
    return { status: "no_funds", message: `Balance is ${balance}; nothing was withdrawn${notAvailable(done)}.` };
  }
  if (!isLess(paid, requested)) return { status: "success", message: `Withdrew ${formatAmount(paid)}.` };
  const ofRequested = `${formatAmount(paid)} of ${formatAmount(requested)}`;
  return { status: "success", message: `Withdrew ${ofRequested}: the full available amount${notAvailable(done)}.` };
}

/** Why the balance was not available: the performance fee, and external funds that await a decision. */
function notAvailable(done: WithdrawResponse): string {
  const fee = moneyFromProto(done.pendingFee);
  const afterFee = subtract(moneyFromProto(done.balanceBefore), fee);
  const underReview = subtract(afterFee, moneyFromProto(done.availableAfterFee));
  const reasons = [
    ...(isPositive(fee) ? [`performance fee ${formatAmount(fee)}`] : []),
    ...(isPositive(underReview) ? [`funds under review ${formatAmount(underReview)}`] : []),
  ];
  return reasons.length === 0 ? "" : ` (not available: ${reasons.join(", ")})`;
}
