import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";
import { anAllocation } from "../samples/history.ts";
import { LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listAllocations: [
    {
      name: "page",
      summary: "A part of a result",
      request: { query: { limit: "1" } },
      services: {
        accounts: { findInvestor: async () => anInvestor() },
        subscriptions: {
          listInvestorAllocations: async () => ({
            items: [anAllocation()],
            next: { subscriptionId: 4n, number: 17n },
          }),
        },
        platform: { findAmendments: async () => ({ amendments: [] }) },
      },
      asked: [
        { method: "listInvestorAllocations", request: { investorLogin: "3000003", limit: 1 } },
        { method: "findInvestor", request: { login: "3000003" } },
        { method: "findAmendments", request: { login: "3000001", dealIds: [1234567n] } },
      ],
      answer: {
        items: [{ allocated_at: LATER_TEXT }],
        next_cursor: "AAAAAAAAAAQAAAAAAAAAEbqBBGageM-9oQLw",
        has_more: true,
      },
    },
  ],
};
