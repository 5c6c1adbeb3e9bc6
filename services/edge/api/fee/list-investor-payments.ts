import { Type } from "typebox";
import { Payment, paymentItem } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { masterLoginReply, paymentLoginReply } from "../schemas/reply-fields.ts";
import { integerCursor, limit500, masterLogin } from "../schemas/request-fields.ts";
import { descendingPage } from "../schemas/page.ts";
import { route } from "../../http/route.ts";
import { beforeId, endOf } from "./descending.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 100;

export const listInvestorPayments = route({
  operationId: "listFeePayments",
  method: "GET",
  url: "/api/v1/perf-fee/master/:master_login/investor-payments",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List fee payments of a Master's Investors",
  description: "Executed payments above zero, newest first. A payment may appear on two pages; count each id once.",
  returns: "A page of payments.",
  params: Type.Object({ master_login: masterLogin }),
  query: Type.Object({
    limit: limit500(DEFAULT_LIMIT),
    cursor: Type.Optional(integerCursor("Only payments with a lower id. Use next_cursor.")),
  }),
  reply: model("FeePaymentPage", "A page of fee payments. Descending by id.", {
    master_login: masterLoginReply(),
    payment_account_login: paymentLoginReply(),
    ...descendingPage(Payment),
  }),
  refusals: ["master_not_found"],

  async handle({ fees }, { params, query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const page = await fees.listInvestorPayments(
      { masterLogin: params.master_login, beforeId: beforeId(query.cursor), limit },
      context,
    );
    return {
      master_login: page.masterLogin,
      payment_account_login: page.paymentAccountLogin,
      items: page.items.map(paymentItem),
      ...endOf(page),
    };
  },
});
