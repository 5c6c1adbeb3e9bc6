import type { Exchanges } from "../exchange.ts";
import { aCredit } from "../samples/fee.ts";
import { cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listPaymentCredits: [
    {
      name: "page",
      summary: "A fee and a debt",
      request: { query: { master_login: "3000001", limit: "2", cursor: "30" } },
      services: {
        fees: {
          listPaymentCredits: async () => ({
            paymentAccountLogin: "3000002",
            items: [aCredit(), aCredit({ id: 32n, investorLogin: undefined, kind: "PF_DEBT", amount: cents(5n) })],
            hasMore: true,
          }),
        },
      },
      asked: [{ method: "listPaymentCredits", request: { masterLogin: "3000001", afterId: 30n, limit: 2 } }],
      answer: {
        payment_account_login: "3000002",
        items: [
          {
            id: 31,
            master_payment_login: "3000002",
            investor_mt5_login: "3000003",
            kind: "PF",
            amount: 12.34,
            currency: "USD",
            mt5_op_id: 1234570,
            mt5_ts: "2026-01-02T03:04:05.678000",
            created_at: "2026-02-03T04:05:06.789000",
          },
          {
            id: 32,
            master_payment_login: "3000002",
            investor_mt5_login: null,
            kind: "PF_DEBT",
            amount: 0.05,
            currency: "USD",
            mt5_op_id: 1234570,
            mt5_ts: "2026-01-02T03:04:05.678000",
            created_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: 32,
        has_more: true,
      },
    },
  ],
};
