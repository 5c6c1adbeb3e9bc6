import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";

export const exchanges: Exchanges = {
  createInvestor: [
    {
      name: "created",
      summary: "A new account",
      request: {
        body: {
          first_name: "Ada",
          last_name: "Lovelace",
          name: "Ada",
          username: "ada@example.com",
          platform_group: "pamm\\investor",
        },
      },
      services: {
        accounts: {
          createInvestor: async () => ({
            investor: anInvestor(),
            mainPassword: "Main-1234",
            investorPassword: "Read-1234",
          }),
        },
      },
      asked: [
        {
          method: "createInvestor",
          request: {
            firstName: "Ada",
            lastName: "Lovelace",
            name: "Ada",
            username: "ada@example.com",
            platformGroup: "pamm\\investor",
            leverage: 100,
          },
        },
      ],
      answer: {
        id: 8,
        mt5_login: "3000003",
        name: "Ada",
        created_at: "2026-01-02T03:04:05.678000",
        password: "Main-1234",
        investor_password: "Read-1234",
      },
    },
  ],
};
