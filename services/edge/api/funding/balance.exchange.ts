import type { Exchanges } from "../exchange.ts";
import { cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getBalance: [
    {
      name: "balance",
      summary: "A balance",
      services: {
        funding: {
          getBalance: async () => ({ login: "3000003", balance: cents(250_55n), error: "", isUnknown: false }),
        },
      },
      asked: [{ method: "getBalance", request: { login: "3000003" } }],
      answer: { balance: 250.55 },
    },
    {
      name: "unknown",
      summary: "A login that this service does not manage",
      request: { params: { mt5_login: "3999999" } },
      services: {
        funding: {
          getBalance: async () => ({ login: "3999999", balance: undefined, error: "unknown login", isUnknown: true }),
        },
      },
      answer: { mt5_login: "3999999", balance: null, ok: false, error: "unknown login" },
    },
  ],
  getBalances: [
    {
      name: "balances",
      summary: "Two accounts, of which this service manages one",
      request: { query: { logins: "3000003,3999999" } },
      services: {
        funding: {
          getBalances: async () => ({
            balances: [
              { login: "3000003", balance: cents(250_55n), error: "", isUnknown: false },
              { login: "3999999", balance: undefined, error: "unknown login", isUnknown: true },
            ],
          }),
        },
      },
      asked: [{ method: "getBalances", request: { logins: ["3000003", "3999999"] } }],
      answer: {
        items: [{ balance: 250.55 }, { mt5_login: "3999999", balance: null, ok: false, error: "unknown login" }],
      },
    },
  ],
};
