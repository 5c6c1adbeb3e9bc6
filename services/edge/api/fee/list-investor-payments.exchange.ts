import type { Exchanges } from "../exchange.ts";
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
};
