import type { Exchanges } from "../exchange.ts";
import { aMasterProfile } from "../samples/account.ts";
import { MASTER_PROFILE } from "./examples.ts";

export const exchanges: Exchanges = {
  listMasterProfiles: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      services: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
      asked: [{ method: "listMasters", request: { filter: { externalId: "CRM-7001" }, afterId: 0n, limit: 50 } }],
      answer: {
        items: [MASTER_PROFILE],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
};
