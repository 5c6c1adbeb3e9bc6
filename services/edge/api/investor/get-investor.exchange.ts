import type { Exchanges } from "../exchange.ts";
import { INVESTOR_PROFILE } from "./examples.ts";
import { anInvestorProfile } from "../samples/account.ts";

export const exchanges: Exchanges = {
  getInvestor: [
    {
      name: "investor",
      summary: "An Investor",
      request: { params: { investor_id: "8" } },
      services: { accounts: { getInvestorProfile: async () => anInvestorProfile() } },
      asked: [{ method: "getInvestorProfile", request: { id: 8n } }],
      answer: INVESTOR_PROFILE,
    },
  ],
};
