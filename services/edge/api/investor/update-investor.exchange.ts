import type { Exchanges } from "../exchange.ts";
import { INVESTOR_PROFILE } from "./examples.ts";
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
      answer: INVESTOR_PROFILE,
    },
  ],
};
