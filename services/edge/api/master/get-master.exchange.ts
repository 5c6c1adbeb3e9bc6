import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";

export const exchanges: Exchanges = {
  getMaster: [
    {
      name: "master",
      summary: "A Master",
      request: { params: { master_id: "7" } },
      services: { accounts: { getMaster: async () => aMaster({ investorsCount: undefined }) } },
      asked: [{ method: "getMaster", request: { id: 7n } }],
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
};
