import type { Exchanges } from "../exchange.ts";
import { anInvestor } from "../samples/account.ts";
import { aStatement } from "../samples/history.ts";

export const exchanges: Exchanges = {
  getStatement: [
    {
      name: "deposit",
      summary: "A period with a deposit",
      services: {
        accounts: { findInvestor: async () => anInvestor() },
        platform: { readStatement: async () => aStatement() },
      },
      asked: [
        { method: "findInvestor", request: { login: "3000003" } },
        {
          method: "readStatement",
          request: {
            login: "3000003",
            from: new Date("2026-01-01T00:00:00.000Z"),
            to: new Date("2026-02-01T00:00:00.000Z"),
            limit: 100,
          },
        },
      ],
      answer: { from: "2026-01-01T00:00:00.000000", to: "2026-02-01T00:00:00.000000" },
    },
  ],
};
