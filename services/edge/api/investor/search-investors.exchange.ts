import type { Exchanges } from "../exchange.ts";
import { anInvestorProfile } from "../samples/account.ts";

export const exchanges: Exchanges = {
  listInvestorProfiles: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      services: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: false }) } },
      asked: [{ method: "listInvestors", request: { filter: { externalId: "CRM-7001" }, afterId: 0n, limit: 50 } }],
      answer: {
        items: [
          {
            engine: "PAMM",
            id: 8,
            mt5_login: "3000003",
            name: "Ada",
            email: "ada@example.com",
            external_id: "CRM-7001",
            metadata: { segment: "retail" },
            created_at: "2026-01-02T03:04:05.678000",
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
};
