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
      answer: { next_cursor: 1030 },
    },
  ],
};
