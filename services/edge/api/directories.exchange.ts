import type { Exchanges } from "./exchange.ts";
import { aMasterProfile, anInvestorProfile } from "./samples/account.ts";
import { MASTER } from "./master/examples.ts";

export const exchanges: Exchanges = {
  listMasters: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { engine: "PAMM" } },
      services: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
      asked: [{ method: "listMasters", request: { afterId: 0n, limit: 50 } }],
      answer: {
        items: [MASTER],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  listInvestors: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { engine: "PAMM", limit: "1" } },
      services: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: true }) } },
      asked: [{ method: "listInvestors", request: { afterId: 0n, limit: 1 } }],
      answer: {
        items: [{ engine: "PAMM", id: 8, mt5_login: "3000003", name: "Ada", created_at: "2026-01-02T03:04:05.678000" }],
        next_cursor: "AAAAAAAAAAgE8g_PY4uUmsRG",
        has_more: true,
      },
    },
  ],
};
