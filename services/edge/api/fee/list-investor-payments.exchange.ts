import type { Exchanges } from "../exchange.ts";
import { FEE_PAYMENT } from "./examples.ts";
import { aPayment } from "../samples/fee.ts";

export const exchanges: Exchanges = {
  listFeePayments: [
    {
      name: "week",
      summary: "A fee of a week",
      request: { params: { master_login: "3000001" }, query: {} },
      services: {
        fees: {
          listInvestorPayments: async () => ({
            masterLogin: "3000001",
            paymentAccountLogin: "3000002",
            items: [aPayment()],
            hasMore: false,
          }),
        },
      },
      asked: [{ method: "listInvestorPayments", request: { masterLogin: "3000001", beforeId: 0n, limit: 100 } }],
      answer: {
        master_login: "3000001",
        payment_account_login: "3000002",
        items: [FEE_PAYMENT],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
};
