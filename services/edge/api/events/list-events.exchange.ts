import type { Exchanges } from "../exchange.ts";
import { anEvent } from "../samples/edge.ts";

export const exchanges: Exchanges = {
  listEvents: [
    {
      name: "page",
      summary: "A deposit that was executed",
      request: { query: { after: "1023", types: "deposit.*,subscription.cancelled", limit: "2", wait: "10" } },
      services: {
        events: {
          read: async () => ({
            events: [anEvent()],
            removedThrough: 900n,
            through: 1030n,
            issuedThrough: 1030n,
            hasMore: false,
          }),
        },
      },
      asked: [],
      answer: {
        items: [
          {
            id: 1024,
            type: "deposit.executed",
            occurred_at: "2026-01-02T03:04:05.678000",
            state: "executed",
            subject_id: "0198c0de-0000-7000-8000-000000000001",
            login: "3000003",
            master_login: null,
            operation_id: "0198c0de-0000-7000-8000-000000000001",
            amount: "250.50",
            deal_id: 1234567,
            reason: null,
            key: "funding-77",
          },
        ],
        next_cursor: 1030,
        has_more: false,
      },
    },
  ],
};
