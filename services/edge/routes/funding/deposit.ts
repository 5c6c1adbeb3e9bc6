import { Type } from "typebox";
import { bool, integer, string } from "../../schemas/field.ts";
import { decimalReply, loginReply, moneyReply } from "../../schemas/reply-fields.ts";
import { amount, comment, currency, investorLogin } from "../../schemas/request-fields.ts";
import { route } from "../../route.ts";
import { clientOf, tellDuplicate } from "./client.ts";
import { moneyNumber, moneyOf, moneyText } from "../../wire/money.ts";

const DEFAULT_COMMENT = "API Deposit";

export const deposit = route({
  method: "POST",
  url: "/api/v1/investor/deposit",
  scope: "funds:deposit",
  class: "money",
  tag: "Funds",
  summary: "Credit an Investor",
  description:
    "The only way in for outside capital. The Investor is credited in this call; the Master follows shortly. Parameters come from the query; a body is ignored.",
  query: Type.Object({
    login: investorLogin,
    amount,
    currency: Type.Optional(currency),
    comment: Type.Optional(comment(DEFAULT_COMMENT)),
  }),
  reply: Type.Object({
    status: string({ description: "success.", example: "success" }),
    action: string({ description: "deposit.", example: "deposit" }),
    login: loginReply("Login of the Investor."),
    amount: moneyReply("What was credited."),
    currency: string({ description: "USD.", example: "USD" }),
    deal_id: integer({ description: "Ticket of the deal on the platform.", example: 1234567 }),
    message: string({ description: "One sentence for people.", example: "The deposit is credited." }),
    first_deposit_checked: bool({ description: "The Master's minimum was checked in this call.", example: false }),
    min_deposit_required: decimalReply("Minimum of the active Master; 0.00 without one."),
  }),
  refusals: [
    "investor_not_found",
    "below_min_deposit",
    "operation_in_progress",
    "possible_duplicate",
    "account_busy",
    "insufficient_funds",
    "platform_rejected",
    "platform_unavailable",
  ],

  async handle({ funding }, { query }, context) {
    const asked = moneyOf(query.amount);
    const { comment: written = DEFAULT_COMMENT } = query;
    const done = await funding.deposit(
      {
        login: query.login,
        amount: asked,
        comment: written,
        client: clientOf(context, written, DEFAULT_COMMENT),
      },
      context,
    );
    tellDuplicate(context, done.possibleDuplicateOf);
    return {
      status: "success",
      action: "deposit",
      login: query.login,
      amount: moneyNumber(asked),
      currency: "USD",
      deal_id: done.dealId,
      message: "The deposit is credited.",
      first_deposit_checked: done.firstDepositChecked,
      min_deposit_required: moneyText(done.minDepositRequired),
    };
  },
});
