import { Type } from "typebox";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { isLess, isZero } from "#kernel/money.ts";
import type { WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import { bool, nullableInteger, string } from "../../schemas/field.ts";
import { decimalReply, loginReply, moneyReply } from "../../schemas/reply-fields.ts";
import { amount, comment, currency, investorLogin } from "../../schemas/request-fields.ts";
import { route } from "../../route.ts";
import { clientOf, tellDuplicate } from "./client.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber, moneyOf, moneyText } from "../../wire/money.ts";

const DEFAULT_COMMENT = "API Withdraw";

export const withdraw = route({
  method: "POST",
  url: "/api/v1/investor/withdraw",
  scope: "funds:withdraw",
  class: "money",
  tag: "Funds",
  summary: "Withdraw from an Investor",
  description:
    "Takes pending performance fees, then pays out what was asked for as far as it is there. Open positions of the Master block it. Parameters come from the query; a body is ignored.",
  query: Type.Object({
    login: investorLogin,
    amount,
    currency: Type.Optional(currency),
    comment: Type.Optional(comment(DEFAULT_COMMENT)),
  }),
  reply: Type.Object({
    status: string({ description: "success, or no_funds when nothing could be paid out.", example: "success" }),
    action: string({ description: "withdraw.", example: "withdraw" }),
    login: loginReply("Login of the Investor."),
    requested_amount: moneyReply("What was asked for."),
    effective_withdraw: moneyReply("What was paid out; it can be less, or 0."),
    currency: string({ description: "USD.", example: "USD" }),
    message: string({ description: "One sentence for people.", example: "The withdrawal is paid out." }),
    check_open_positions: bool({ description: "The Master's open positions were looked at.", example: true }),
    perf_fee_pending_at_request: decimalReply("Pending fee before the withdrawal."),
    balance_before: decimalReply("Balance before the withdrawal."),
    available_after_perf_fee: decimalReply("Capital available after the fee was set apart."),
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
    const { comment: written = DEFAULT_COMMENT } = query;
    const done = await funding.withdraw(
      {
        login: query.login,
        amount: moneyOf(query.amount),
        comment: written,
        client: clientOf(context, written, DEFAULT_COMMENT),
      },
      context,
    );
    tellDuplicate(context, done.possibleDuplicateOf);
    return {
      ...describe(done),
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

function describe(done: WithdrawResponse): { status: string; message: string } {
  const paid = moneyFromProto(done.effectiveWithdraw);
  if (isZero(paid)) return { status: "no_funds", message: "Nothing is left to pay out after the pending fee." };
  const isCut = isLess(paid, moneyFromProto(done.requestedAmount));
  return { status: "success", message: isCut ? "A part of the amount is paid out." : "The withdrawal is paid out." };
}
