import type { Exchanges } from "../exchange.ts";
import { aDeferredPayment, aRun, aRunPayment } from "../samples/fee.ts";

const RUN = {
  id: 12,
  master_login: "3000001",
  kind: "WEEKLY",
  status: "EXECUTED",
  period_start: "2026-01-02T03:04:05.678000",
  period_end: "2026-02-03T04:05:06.789000",
  is_decided: true,
  payments_count: 3,
  open_count: 0,
  executed_count: 2,
  failed_count: 0,
  due: 37.02,
  prepaid: 0,
  collected: 24.68,
  currency: "USD",
  created_at: "2026-02-03T04:05:06.789000",
} as const;

export const exchanges: Exchanges = {
  listFeeRuns: [
    {
      name: "of_a_master",
      summary: "The last week of a Master",
      request: { query: { master_login: "3000001", limit: "1" } },
      services: { fees: { listRuns: async () => ({ items: [aRun()], hasMore: true }) } },
      asked: [{ method: "listRuns", request: { masterLogin: "3000001", beforeId: 0n, limit: 1 } }],
      answer: { items: [RUN], next_cursor: 12, has_more: true },
    },
  ],
  getFeeRun: [
    {
      name: "week",
      summary: "A run of a week",
      request: { params: { run_id: "12" } },
      services: { fees: { getRun: async () => aRun() } },
      asked: [{ method: "getRun", request: { runId: 12n } }],
      answer: RUN,
    },
  ],
  listFeeRunPayments: [
    {
      name: "week",
      summary: "The fees of a week",
      request: { params: { run_id: "12" }, query: {} },
      services: {
        fees: { listRunPayments: async () => ({ items: [aRunPayment(), aDeferredPayment()], hasMore: false }) },
      },
      asked: [{ method: "listRunPayments", request: { runId: 12n, afterPaymentId: 0n, limit: 100 } }],
      answer: {
        items: [
          {
            id: 21,
            investor_id: 8,
            investor_mt5_login: "3000003",
            kind: "PF",
            status: "EXECUTED",
            due: 12.34,
            prepaid: 0,
            amount: 12.34,
            currency: "USD",
            mt5_transfer_id: 77,
            mt5_op_id: 1234569,
            executed_at: "2026-02-03T04:05:06.789000",
            cashflow_unique_key: "PF:3000003:3000001:12:W",
            created_at: "2026-02-03T04:05:06.789000",
          },
          {
            id: 22,
            investor_id: 9,
            investor_mt5_login: "3000004",
            kind: "PF",
            status: "DEFERRED",
            due: 12.34,
            prepaid: 0,
            amount: 0,
            currency: "USD",
            mt5_transfer_id: null,
            mt5_op_id: null,
            executed_at: null,
            cashflow_unique_key: "PF:3000004:3000001:12:W",
            created_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
};
