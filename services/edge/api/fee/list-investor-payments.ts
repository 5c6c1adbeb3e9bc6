import { Type } from "typebox";
import { Payment } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { masterLoginReply, paymentLoginReply } from "../../fields/reply-fields.ts";
import { cursorBefore, limit500, masterLogin } from "../schemas/request-fields.ts";
import { idPage } from "../schemas/page.ts";
import { route } from "../../http/route.ts";

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
    limit: limit500(100),
    cursor: cursorBefore("Only payments with a lower id. Use next_cursor."),
  }),
  reply: model("FeePaymentPage", "A page of fee payments. Descending by id.", {
    master_login: masterLoginReply(),
    payment_account_login: paymentLoginReply(),
    ...idPage(Payment),
  }),
  refusals: ["master_not_found"],
  call: ({ fees }, request, context) => fees.listInvestorPayments(request, context),
});
