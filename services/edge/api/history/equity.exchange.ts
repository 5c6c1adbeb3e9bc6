import type { Exchanges } from "../exchange.ts";
import { anEquity, aWithdrawalPreview } from "../samples/history.ts";
import { AT_TEXT, cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getEquity: [
    {
      name: "floating",
      summary: "A Master with an open position",
      services: {
        subscriptions: { getEquity: async () => anEquity() },
        funding: { previewWithdraw: async () => aWithdrawalPreview(1_000_00n, "master_open_positions") },
      },
      asked: [
        { method: "getEquity", request: { investorLogin: "3000003" } },
        {
          method: "previewWithdraw",
          request: { login: "3000003", amount: { currencyCode: "USD", minorUnits: 100000000000n }, comment: "" },
        },
        { method: "getEquity", request: { investorLogin: "3000003" } },
      ],
      answer: { pending_fee: 30, high_water_mark: 500, pool: { as_of_deal_at: AT_TEXT } },
    },
    {
      name: "outside",
      summary: "An Investor outside a pool",
      request: { params: { investor_login: "3000004" } },
      services: {
        subscriptions: {
          getEquity: async () =>
            anEquity({
              investorLogin: "3000004",
              balance: cents(250_50n),
              holding: undefined,
              pendingFee: cents(0n),
              feeWhenFlat: cents(0n),
              markE8: 0n,
            }),
        },
        funding: { previewWithdraw: async () => aWithdrawalPreview(250_50n) },
      },
      answer: {
        investor_login: "3000004",
        balance: 250.5,
        floating_share: 0,
        equity: 250.5,
        free_to_withdraw: 250.5,
        free_when_flat: 250.5,
        withdrawal_blocked_by: [],
        in_pool: false,
      },
    },
  ],
};
