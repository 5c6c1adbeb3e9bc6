import { Type } from "typebox";
import { PaymentToMaster } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { idPage } from "../schemas/page.ts";
import { investorLoginReply } from "../../fields/reply-fields.ts";
import { cursorBefore, investorLogin, limit500 } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

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
    limit: limit500(100),
    cursor: cursorBefore("Only payments with a lower id. Use next_cursor."),
  }),
  reply: model("InvestorFeePaymentPage", "A page of fee payments of one Investor. Descending by id.", {
    investor_login: investorLoginReply(),
    ...idPage(PaymentToMaster),
  }),
  refusals: ["investor_not_found"],

  async call({ fees }, request, context) {
    const page = await fees.listPaymentsOfInvestor(request, context);
    return { ...page, investorLogin: request.investorLogin };
  },
});
