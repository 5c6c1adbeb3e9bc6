import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";

export const exchanges: Exchanges = {
  registerMaster: [
    {
      name: "registered",
      summary: "Two accounts that exist",
      request: { body: { mt5_login: "3000001", payment_account_login: "3000002", min_deposit: "100.50" } },
      services: {
        accounts: { addMaster: async () => aMaster({ name: "3000001", strategyName: undefined, strategy: undefined }) },
      },
      asked: [
        {
          method: "addMaster",
          request: {
            login: "3000001",
            paymentAccountLogin: "3000002",
            minDeposit: { currencyCode: "USD", minorUnits: 10050n },
          },
        },
      ],
      answer: {
        engine: "PAMM",
        id: 7,
        mt5_login: "3000001",
        name: "3000001",
        strategy_name: "",
        strategy: "",
        investors_count: 2,
        payment_account_login: "3000002",
        min_deposit: 100.5,
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
};
