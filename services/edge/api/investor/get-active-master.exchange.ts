import type { Exchanges } from "../exchange.ts";
import { AT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getActiveMaster: [
    {
      name: "active",
      summary: "An active Investor",
      request: { params: { investor_login: "3000003" } },
      services: {
        subscriptions: {
          getActiveMaster: async () => ({ masterLogin: "3000001", name: "Alpha Strategy", startedAt: AT }),
        },
      },
      asked: [{ method: "getActiveMaster", request: { investorLogin: "3000003" } }],
      answer: { master_login: "3000001", name: "Alpha Strategy", started_at: "2026-01-02T03:04:05.678000" },
    },
    {
      name: "none",
      summary: "No active Master",
      request: { params: { investor_login: "3000004" } },
      services: {
        subscriptions: {
          getActiveMaster: async () => ({ masterLogin: undefined, name: undefined, startedAt: undefined }),
        },
      },
      answer: { master_login: null, name: null, started_at: null },
    },
  ],
};
