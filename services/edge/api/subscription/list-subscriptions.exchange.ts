import type { Exchanges } from "../exchange.ts";
import { aSubscription } from "../samples/subscription.ts";
import { AT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listSubscriptions: [
    {
      name: "of_a_master",
      summary: "The cancelled subscriptions of a Master",
      request: { query: { master_login: "3000001", status: "CANCELLED" } },
      services: {
        subscriptions: {
          listSubscriptions: async () => ({
            items: [aSubscription({ status: 3, inPool: false, endedAt: AT }), aSubscription({ id: 10n })],
            hasMore: false,
          }),
        },
      },
      asked: [
        {
          method: "listSubscriptions",
          request: { masterLogin: "3000001", investorLogin: "", status: 3, limit: 1000, afterId: 0n },
        },
      ],
      answer: [
        {
          id: 9,
          status: "CANCELLED",
          in_pool: false,
          started_at: "2026-01-02T03:04:05.678000",
          ended_at: "2026-01-02T03:04:05.678000",
          master_login: "3000001",
          investor_login: "3000003",
        },
        {
          id: 10,
          status: "ACTIVE",
          in_pool: true,
          started_at: "2026-01-02T03:04:05.678000",
          ended_at: null,
          master_login: "3000001",
          investor_login: "3000003",
        },
      ],
    },
  ],
};
