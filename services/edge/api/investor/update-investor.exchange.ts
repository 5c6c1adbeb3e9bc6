import type { Exchanges } from "../exchange.ts";
import { anInvestorProfile } from "../samples/account.ts";

export const exchanges: Exchanges = {
  updateInvestor: [
    {
      name: "labels",
      summary: "Another id and one more member of the metadata",
      request: {
        params: { investor_id: "8" },
        body: { external_id: "CRM-7001", metadata: { segment: "retail", lead: null } },
      },
      services: { accounts: { updateInvestor: async () => anInvestorProfile() } },
      asked: [
        {
          method: "updateInvestor",
          request: {
            id: 8n,
            labels: { externalId: "CRM-7001", setMetadata: { segment: "retail" }, removedMetadata: ["lead"] },
          },
        },
      ],
      answer: {
        engine: "PAMM",
        id: 8,
        mt5_login: "3000003",
        name: "Ada",
        email: "ada@example.com",
        external_id: "CRM-7001",
        metadata: { segment: "retail" },
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
};
