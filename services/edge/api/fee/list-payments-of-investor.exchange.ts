import type { Exchanges } from "../exchange.ts";
import { FEE_PAYMENT } from "./examples.ts";
import { aPayment } from "../samples/fee.ts";

export const exchanges: Exchanges = {
  listFeePaymentsOfInvestor: [
    {
      name: "page",
      summary: "The newest payment",
      request: { params: { investor_login: "3000003" }, query: { limit: "1" } },
      services: {
        fees: {
          listPaymentsOfInvestor: async () => ({
            items: [{ payment: aPayment(), masterLogin: "3000001", paymentAccountLogin: "3000002" }],
            hasMore: true,
          }),
        },
      },
      asked: [{ method: "listPaymentsOfInvestor", request: { investorLogin: "3000003", beforeId: 0n, limit: 1 } }],
      answer: {
        investor_login: "3000003",
        items: [
          {
            ...FEE_PAYMENT,
            master_login: "3000001",
            payment_account_login: "3000002",
          },
        ],
        next_cursor: 21,
        has_more: true,
      },
    },
  ],
};
