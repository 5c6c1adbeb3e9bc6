import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";

export const exchanges: Exchanges = {
  registerInvestor: [
    {
      name: "registered",
      summary: "An account that exists",
      request: { body: { mt5_login: "3000003", name: "Ada" } },
      services: { accounts: { addInvestor: async () => anInvestor() } },
      asked: [{ method: "addInvestor", request: { login: "3000003", name: "Ada" } }],
      answer: { engine: "PAMM", id: 8, mt5_login: "3000003", name: "Ada", created_at: "2026-01-02T03:04:05.678000" },
    },
  ],
};
