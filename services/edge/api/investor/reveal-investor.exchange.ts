import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";

export const exchanges: Exchanges = {
  getInvestorWithPasswords: [
    {
      name: "created",
      summary: "An account that was created here",
      request: { params: { investor_login: "3000003" } },
      services: {
        accounts: {
          revealInvestor: async () => ({
            investor: anInvestor(),
            mainPassword: "Main-1234",
            investorPassword: "Read-1234",
          }),
        },
      },
      asked: [{ method: "revealInvestor", request: { login: "3000003" } }],
      answer: {
        id: 8,
        mt5_login: "3000003",
        name: "Ada",
        mt5_password: "Main-1234",
        mt5_investor_password: "Read-1234",
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
};
