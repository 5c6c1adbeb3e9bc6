import type { Exchanges } from "../exchange.ts";
import { aSubscription } from "../samples/subscription.ts";
import { AT, AT_TEXT } from "../samples/values.ts";

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
      answer: [{ status: "CANCELLED", in_pool: false, ended_at: AT_TEXT }, { id: 10 }],
    },
  ],
  listSubscriptionPages: [
    {
      name: "january",
      summary: "The subscriptions of a Master that began in January",
      request: {
        query: { master_login: "3000001", from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", limit: "1" },
      },
      services: { subscriptions: { searchSubscriptions: async () => ({ items: [aSubscription()], hasMore: true }) } },
      asked: [
        {
          method: "searchSubscriptions",
          request: {
            masterLogin: "3000001",
            investorLogin: "",
            status: 0,
            from: new Date("2026-01-01T00:00:00.000Z"),
            to: new Date("2026-02-01T00:00:00.000Z"),
            beforeId: 0n,
            limit: 1,
          },
        },
      ],
      answer: { next_cursor: "AAAAAAAAAAmi_PXswIivFR9q", has_more: true },
    },
  ],
};
