import { Type } from "typebox";
import { Payment } from "../schemas/fee-listings.ts";
import { model } from "../../fields/field.ts";
import { masterLoginReply, paymentLoginReply } from "../schemas/reply-fields.ts";
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
  examples: [
    {
      name: "week",
      summary: "A fee of a week",
      request: { params: { master_login: "3000001" }, query: {} },
      answer: {
        master_login: "3000001",
        payment_account_login: "3000002",
        items: [
          {
            id: 21,
            run_id: 12,
            run_status: "EXECUTED",
            run_period_start: "2026-01-02T03:04:05.678000",
            run_period_end: "2026-02-03T04:05:06.789000",
            investor_id: 8,
            investor_mt5_login: "3000003",
            amount: 12.34,
            currency: "USD",
            status: "EXECUTED",
            mt5_transfer_id: 77,
            mt5_op_id: 1234569,
            executed_at: "2026-02-03T04:05:06.789000",
            cashflow_id: 31,
            cashflow_unique_key: "PF:3000003:3000001:12:W",
            created_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  call: ({ fees }, { limit, ...request }, context) => fees.listInvestorPayments({ ...request, limit }, context),
});
