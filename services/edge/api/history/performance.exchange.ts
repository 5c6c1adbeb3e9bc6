import type { Exchanges } from "../exchange.ts";
import { aMaster } from "../samples/account.ts";
import { aPerformanceDay } from "../samples/history.ts";
import { AT_TEXT, cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getPerformance: [
    {
      name: "month",
      summary: "A month with one day of trading",
      request: { query: { from: "2026-01-01", to: "2026-02-01" } },
      services: {
        accounts: { findMaster: async () => aMaster() },
        subscriptions: {
          listPerformance: async () => ({
            days: [aPerformanceDay()],
            hasMore: false,
            openingValue: "",
            maxDrawdownPpm: 100_000,
          }),
        },
        fees: { sumPaymentCredits: async () => ({ days: [{ day: "2026-01-03", amount: cents(30_00n) }] }) },
      },
      asked: [
        {
          method: "listPerformance",
          request: { masterLogin: "3000001", from: "2026-01-01", to: "2026-02-01", serverDays: false, limit: 366 },
        },
        {
          method: "sumPaymentCredits",
          request: {
            masterLogin: "3000001",
            from: new Date("2026-01-01T00:00:00.000Z"),
            to: new Date("2026-02-01T00:00:00.000Z"),
            timeZone: "",
          },
        },
        { method: "findMaster", request: { login: "3000001" } },
      ],
      answer: {
        opening_nav_per_unit: null,
        closing_nav_per_unit: 1.45,
        time_weighted_return: 0.45,
        max_drawdown: 0.1,
        points: [
          { nav_per_unit: 1.45, change: 0.45, drawdown: 0.1, fees: 0, valued_at: AT_TEXT },
          { day: "2026-01-03", nav_per_unit: 1.45, change: 0, result: 0, valued_at: AT_TEXT },
        ],
      },
    },
  ],
};
