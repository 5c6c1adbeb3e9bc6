import type { Exchanges } from "../exchange.ts";
import { anInvestorProfile } from "../samples/account.ts";

export const exchanges: Exchanges = {
  getInvestor: [
    {
      name: "investor",
      summary: "An Investor",
      request: { params: { investor_id: "8" } },
      services: { accounts: { getInvestorProfile: async () => anInvestorProfile() } },
      asked: [{ method: "getInvestorProfile", request: { id: 8n } }],
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
