import type { Exchanges } from "../exchange.ts";
import { aMaster, anInvestor } from "../samples/account.ts";
import { anAllocation } from "../samples/history.ts";

const accounts = { findInvestor: async () => anInvestor(), findMaster: async () => aMaster() };

export const exchanges: Exchanges = {
  listAllocations: [
    {
      name: "page",
      summary: "A part of a result",
      request: { params: { investor_login: "3000003" }, query: { limit: "1" } },
      services: {
        accounts,
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
        items: [
          {
            master_login: "3000001",
            subscription_id: 4,
            number: 17,
            deal_id: 1234567,
            deal_at: "2026-01-02T03:04:05.678000",
            allocated_at: "2026-02-03T04:05:06.789000",
            deal_result: 600,
            amount: 100,
            units: 1000,
            pool_units: 6000,
            correction: null,
          },
        ],
        next_cursor: "AAAAAAAAAAQAAAAAAAAAEbqBBGageM-9oQLw",
        has_more: true,
      },
    },
  ],
};
