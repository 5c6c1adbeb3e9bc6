import assert from "node:assert/strict";
import { Type } from "typebox";
import type { PaymentToMaster as PaymentMessage } from "#proto/pamm/fee/v1/fee.ts";
import { paymentItem, PaymentToMaster } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { descendingPage } from "../schemas/page.ts";
import { investorLoginReply } from "../schemas/reply-fields.ts";
import { integerCursor, investorLogin, limit500 } from "../schemas/request-fields.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { route } from "../../http/route.ts";
import { beforeId } from "./descending.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 100;

export const listPaymentsOfInvestor = route({
  operationId: "listFeePaymentsOfInvestor",
  method: "GET",
  url: "/api/v1/perf-fee/investor/:investor_login/payments",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List fee payments of an Investor",
  description:
    "Executed payments above zero to all Masters that the Investor follows or has followed, newest first. A payment may appear on two pages; count each id once.",
  returns: "A page of payments.",
  params: Type.Object({ investor_login: investorLogin }),
  query: Type.Object({
    limit: limit500(DEFAULT_LIMIT),
    cursor: Type.Optional(integerCursor("Only payments with a lower id. Use next_cursor.")),
  }),
  reply: model("InvestorFeePaymentPage", "A page of fee payments of one Investor. Descending by id.", {
    investor_login: investorLoginReply(),
    ...descendingPage(PaymentToMaster),
  }),
  refusals: ["investor_not_found"],

  async handle({ fees }, { params, query }, context) {
    const { items, hasMore } = await fees.listPaymentsOfInvestor(
      {
        investorLogin: params.investor_login,
        beforeId: beforeId(query.cursor),
        limit: Number(query.limit ?? DEFAULT_LIMIT),
      },
      context,
    );
    const shown = items.map(itemOf);
    const last = hasMore ? shown.at(-1) : undefined;
    return {
      investor_login: params.investor_login,
      items: shown,
      next_cursor: last === undefined ? null : jsonInteger(last.id),
      has_more: hasMore,
    };
  },
});

function itemOf({ payment, masterLogin, paymentAccountLogin }: PaymentMessage) {
  assert(payment !== undefined, "the payment is missing in the answer");
  return { ...paymentItem(payment), master_login: masterLogin, payment_account_login: paymentAccountLogin };
}
