import type { Exchanges } from "../exchange.ts";
import { aMaster, anInvestor } from "../samples/account.ts";
import { aMasterResult } from "../samples/history.ts";

const accounts = { findInvestor: async () => anInvestor(), findMaster: async () => aMaster() };

export const exchanges: Exchanges = {
  listResults: [
    {
      name: "page",
      summary: "A result",
      request: { params: { master_login: "3000001" }, query: { limit: "1" } },
      services: {
        accounts,
        subscriptions: { listResults: async () => ({ items: [aMasterResult()], hasMore: true }) },
      },
      asked: [
        { method: "listResults", request: { masterLogin: "3000001", beforeLogNumber: 0n, limit: 1 } },
        { method: "findMaster", request: { login: "3000001" } },
      ],
      answer: {
        items: [
          {
            number: 17,
            deal_id: 1234567,
            deal_at: "2026-01-02T03:04:05.678000",
            allocated_at: "2026-02-03T04:05:06.789000",
            result: 450,
            raised: 0,
            nav_per_unit: 1.45,
            drawdown: 0.05,
            pool_value: 1450,
            pool_units: 1000,
          },
        ],
        next_cursor: "AAAAAAAAACqekblLc6cKX-Kt",
        has_more: true,
      },
    },
  ],
};
