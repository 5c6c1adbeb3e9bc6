import type { Exchanges } from "../exchange.ts";
import { aDeferredPayment, aRun, aRunPayment } from "../samples/fee.ts";
import { LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listFeeRuns: [
    {
      name: "of_a_master",
      summary: "The last week of a Master",
      request: { query: { master_login: "3000001", limit: "1" } },
      services: { fees: { listRuns: async () => ({ items: [aRun()], hasMore: true }) } },
      asked: [{ method: "listRuns", request: { masterLogin: "3000001", beforeId: 0n, limit: 1 } }],
      answer: { items: [{ period_end: LATER_TEXT, created_at: LATER_TEXT }], next_cursor: 12, has_more: true },
    },
  ],
  getFeeRun: [
    {
      name: "week",
      summary: "A run of a week",
      services: { fees: { getRun: async () => aRun() } },
      asked: [{ method: "getRun", request: { runId: 12n } }],
      answer: { period_end: LATER_TEXT, created_at: LATER_TEXT },
    },
  ],
  listFeeRunPayments: [
    {
      name: "week",
      summary: "The fees of a week",
      services: {
        fees: { listRunPayments: async () => ({ items: [aRunPayment(), aDeferredPayment()], hasMore: false }) },
      },
      asked: [{ method: "listRunPayments", request: { runId: 12n, afterPaymentId: 0n, limit: 100 } }],
      answer: {
        items: [
          { executed_at: LATER_TEXT, created_at: LATER_TEXT },
          {
            id: 22,
            investor_id: 9,
            investor_mt5_login: "3000004",
            status: "DEFERRED",
            amount: 0,
            mt5_transfer_id: null,
            mt5_op_id: null,
            cashflow_unique_key: "PF:3000004:3000001:12:W",
            created_at: LATER_TEXT,
          },
        ],
        next_cursor: null,
      },
    },
  ],
};
