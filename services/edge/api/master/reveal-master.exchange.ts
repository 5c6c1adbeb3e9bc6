import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";

export const exchanges: Exchanges = {
  getMasterWithPasswords: [
    {
      name: "created",
      summary: "An account that was created here",
      request: { params: { master_login: "3000001" } },
      services: {
        accounts: {
          revealMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
        },
      },
      asked: [{ method: "revealMaster", request: { login: "3000001" } }],
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        mt5_password: "Main-1234",
        mt5_investor_password: "Read-1234",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        payment_account_login: "3000002",
        min_deposit: 100.5,
        created_at: "2026-01-02T03:04:05.678000",
        investors_count: 2,
      },
    },
  ],
};
