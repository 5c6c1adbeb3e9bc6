import { Type } from "typebox";
import type { PaymentCredit } from "#proto/pamm/fee/v1/fee.ts";
import { Credit } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { paymentLoginReply } from "../schemas/reply-fields.ts";
import { integerCursor, limit100, masterLogin } from "../schemas/request-fields.ts";
import { ascendingPage } from "../schemas/page.ts";
import { route } from "../../http/route.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 5;

export const listPaymentCredits = route({
  operationId: "listPaymentCredits",
  method: "GET",
  url: "/api/v1/perf-fee/transactions",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List payment account credits",
  description: "Credits on the payment account of the Master, ascending by id.",
  returns: "A page of credits.",
  query: Type.Object({
    master_login: masterLogin,
    limit: limit100(DEFAULT_LIMIT),
    cursor: Type.Optional(
      integerCursor("Only credits with a greater id. Use next_cursor, also that of the last page."),
    ),
  }),
  reply: model("PaymentCreditPage", "A page of payment-account credits. Ascending by id.", {
    payment_account_login: paymentLoginReply(),
    ...ascendingPage(Credit),
  }),
  refusals: ["master_not_found"],

  async handle({ fees }, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const afterId = BigInt(query.cursor ?? 0);
    const page = await fees.listPaymentCredits({ masterLogin: query.master_login, afterId, limit }, context);
    return {
      payment_account_login: page.paymentAccountLogin,
      items: page.items.map(creditItem),
      next_cursor: page.items.at(-1)?.id ?? afterId,
      has_more: page.hasMore,
    };
  },
});

function creditItem(credit: PaymentCredit) {
  return {
    id: credit.id,
    master_payment_login: credit.paymentAccountLogin,
    investor_mt5_login: credit.investorLogin ?? null,
    kind: credit.kind,
    amount: moneyNumber(credit.amount),
    currency: credit.amount?.currencyCode ?? "",
    mt5_op_id: credit.dealId,
    mt5_ts: timestamp(credit.dealAt),
    created_at: timestamp(credit.createdAt),
  };
}
