import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";

export const exchanges: Exchanges = {
  createMaster: [
    {
      name: "created",
      summary: "A new Master",
      request: {
        body: {
          first_name: "Ada",
          last_name: "Lovelace",
          name: "Alpha Strategy",
          username: "ada@example.com",
          platform_group: "pamm\\master",
          leverage: "200",
          min_deposit: "100.50",
          strategy_name: "Alpha",
          strategy: "Trend following.",
        },
      },
      services: {
        accounts: {
          createMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
        },
      },
      asked: [
        {
          method: "createMaster",
          request: {
            firstName: "Ada",
            lastName: "Lovelace",
            name: "Alpha Strategy",
            username: "ada@example.com",
            platformGroup: "pamm\\master",
            leverage: 200,
            minDeposit: { currencyCode: "USD", minorUnits: 10050n },
            strategyName: "Alpha",
            strategy: "Trend following.",
          },
        },
      ],
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        created_at: "2026-01-02T03:04:05.678000",
        password: "Main-1234",
        investor_password: "Read-1234",
        payment_account_login: "3000002",
      },
    },
  ],
};
