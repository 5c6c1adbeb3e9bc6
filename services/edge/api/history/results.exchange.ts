import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";
import { aMasterResult } from "../samples/history.ts";
import { LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listResults: [
    {
      name: "page",
      summary: "A result",
      request: { query: { limit: "1" } },
      services: {
        accounts: { findMaster: async () => aMaster() },
        subscriptions: { listResults: async () => ({ items: [aMasterResult()], hasMore: true }) },
      },
      asked: [
        { method: "listResults", request: { masterLogin: "3000001", beforeLogNumber: 0n, limit: 1 } },
        { method: "findMaster", request: { login: "3000001" } },
      ],
      answer: {
        items: [{ allocated_at: LATER_TEXT, drawdown: 0.05 }],
        next_cursor: "AAAAAAAAACqekblLc6cKX-Kt",
        has_more: true,
      },
    },
  ],
};
