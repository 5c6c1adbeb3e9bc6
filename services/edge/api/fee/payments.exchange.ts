import type { Exchanges } from "../exchange.ts";
import { aCredit, aPayment } from "../samples/fee.ts";
import { cents, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listFeePayments: [
    {
      name: "week",
      summary: "A fee of a week",
      services: {
        fees: {
          listPayments: async () => ({ paymentAccountLogin: "3000002", items: [aPayment()], hasMore: false }),
        },
      },
      asked: [
        { method: "listPayments", request: { masterLogin: "3000001", investorLogin: "", beforeId: 0n, limit: 100 } },
      ],
      answer: {
        items: [{ run_period_end: LATER_TEXT, executed_at: LATER_TEXT, created_at: LATER_TEXT }],
        next_cursor: null,
      },
    },
  ],
  listFeePaymentsOfInvestor: [
    {
      name: "page",
      summary: "The newest payment",
      request: { query: { limit: "1" } },
      services: {
        fees: {
          listPayments: async () => ({ paymentAccountLogin: "", items: [aPayment()], hasMore: true }),
        },
      },
      asked: [
        { method: "listPayments", request: { masterLogin: "", investorLogin: "3000003", beforeId: 0n, limit: 1 } },
      ],
      answer: {
        items: [{ run_period_end: LATER_TEXT, executed_at: LATER_TEXT, created_at: LATER_TEXT }],
        next_cursor: 21,
        has_more: true,
      },
    },
  ],
  listPaymentCredits: [
    {
      name: "page",
      summary: "A fee and a debt",
      request: { query: { limit: "2", cursor: "30" } },
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
        items: [
          { created_at: LATER_TEXT },
          { id: 32, investor_mt5_login: null, kind: "PF_DEBT", amount: 0.05, created_at: LATER_TEXT },
        ],
        next_cursor: 32,
        has_more: true,
      },
    },
  ],
};
