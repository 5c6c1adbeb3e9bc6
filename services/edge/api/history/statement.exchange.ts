import type { Exchanges } from "../exchange.ts";
import { aMaster, anInvestor } from "../samples/account.ts";
import { aStatement } from "../samples/history.ts";

const accounts = { findInvestor: async () => anInvestor(), findMaster: async () => aMaster() };

export const exchanges: Exchanges = {
  getStatement: [
    {
      name: "deposit",
      summary: "A period with a deposit",
      request: {
        params: { investor_login: "3000003" },
        query: { from: "2026-01-01T00:00:00", to: "2026-02-01T00:00:00" },
      },
      services: { accounts, platform: { readStatement: async () => aStatement() } },
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
      answer: {
        investor_login: "3000003",
        from: "2026-01-01T00:00:00.000000",
        to: "2026-02-01T00:00:00.000000",
        currency: "USD",
        opening_balance: 1000,
        closing_balance: 1250.5,
        items: [
          {
            number: 12,
            booked_at: "2026-01-02T03:04:05.678000",
            deal_at: "2026-01-02T03:04:05.678000",
            kind: "deposit",
            amount: 250.5,
            balance: 1250.5,
            deal_id: 1234567,
            mt5_transfer_id: 77,
            operation_id: "0198c0de-0000-7000-8000-000000000001",
            comment: "CRM-1",
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
};
