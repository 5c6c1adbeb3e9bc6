import type { Exchanges } from "../exchange.ts";
import { aSubscription } from "../samples/subscription.ts";

export const exchanges: Exchanges = {
  assignInvestor: [
    {
      name: "assigned",
      summary: "With a performance fee of 30 %",
      request: { body: { master_login: "3000001", investor_login: "3000003", perf_fee: { rate: 0.3, enabled: true } } },
      services: { subscriptions: { assign: async () => ({ subscription: aSubscription() }) } },
      asked: [
        {
          method: "assign",
          request: { masterLogin: "3000001", investorLogin: "3000003", feeRatePpm: 300000, feeEnabled: true },
        },
      ],
      answer: {
        id: 9,
        master_id: 7,
        investor_id: 8,
        status: "ACTIVE",
        in_pool: true,
        started_at: "2026-01-02T03:04:05.678000",
        balance_baseline_op_id: 41,
        ended_at: null,
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
};
