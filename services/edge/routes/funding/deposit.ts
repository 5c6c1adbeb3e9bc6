import { Type } from "typebox";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount } from "#kernel/money.ts";
import { bool, integer, string } from "../../schemas/field.ts";
import { decimalReply, loginReply, moneyReply } from "../../schemas/reply-fields.ts";
import { route } from "../../route.ts";
import { movementOf, movementQuery, reportDuplicate } from "./movement.ts";
import { moneyNumber, moneyText } from "../../wire/money.ts";

const DEFAULT_COMMENT = "API Deposit";

export const deposit = route({
  method: "POST",
  url: "/api/v1/investor/deposit",
  scope: "funds:deposit",
  class: "money",
  tag: "Funds",
  summary: "Deposit funds to an Investor",
  description:
    "Credits the Investor account in this call; the Master follows within seconds. Parameters are in the query; a body is ignored.",
  query: movementQuery(DEFAULT_COMMENT),
  reply: Type.Object({
    status: string({ description: "Always `success`.", example: "success" }),
    action: string({ description: "Always `deposit`.", example: "deposit" }),
    login: loginReply("Login of the Investor."),
    amount: moneyReply("Credited amount."),
    currency: string({ description: "Always `USD`.", example: "USD" }),
    deal_id: integer({ description: "Ticket of the deal on the platform.", example: 1234567 }),
    message: string({ description: "What was done, in one sentence.", example: "Deposited 250.50 USD." }),
    first_deposit_checked: bool({
      description:
        "Whether this is the Investor's first deposit under an active Master, so that the Master's minimum deposit was looked at. A deposit is never refused for it.",
      example: false,
    }),
    min_deposit_required: decimalReply("Minimum deposit of the active Master; 0.00 without one."),
  }),
  refusals: [
    "investor_not_found",
    "operation_in_progress",
    "possible_duplicate",
    "account_busy",
    "insufficient_funds",
    "platform_rejected",
    "platform_unavailable",
    "safety_stop",
  ],

  async handle({ funding }, { query }, context) {
    const request = movementOf(query, context, DEFAULT_COMMENT);
    const done = await funding.deposit(request, context);
    context.reportOperation(done.operationId);
    reportDuplicate(context, done.possibleDuplicateOf);
    return {
      status: "success",
      action: "deposit",
      login: query.login,
      amount: moneyNumber(request.amount),
      currency: "USD",
      deal_id: done.dealId,
      message: `Deposited ${formatAmount(moneyFromProto(request.amount))}.`,
      first_deposit_checked: done.firstDepositChecked,
      min_deposit_required: moneyText(done.minDepositRequired),
    };
  },
});
