import { Type } from "typebox";
import { Credit } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { at, or } from "../../fields/message.ts";
import { paymentLoginReply } from "../../fields/reply-fields.ts";
import { integerCursor, limit100, masterLogin } from "../schemas/request-fields.ts";
import { ascendingPage } from "../schemas/page.ts";
import { route } from "../../http/route.ts";

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
    limit: limit100(5),
    cursor: at(
      "afterId",
      or(integerCursor("Only credits with a greater id. Use next_cursor, also that of the last page."), 0n),
    ),
  }),
  reply: model("PaymentCreditPage", "A page of payment-account credits. Ascending by id.", {
    payment_account_login: paymentLoginReply(),
    ...ascendingPage(Credit),
  }),
  refusals: ["master_not_found"],

  async call({ fees }, request, context) {
    const page = await fees.listPaymentCredits(request, context);
    return { ...page, nextCursor: page.items.at(-1)?.id ?? request.afterId };
  },
});
