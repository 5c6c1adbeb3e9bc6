import type { Exchanges } from "../exchange.ts";
import { INVESTOR_PROFILE } from "./examples.ts";
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
        items: [INVESTOR_PROFILE],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
};
