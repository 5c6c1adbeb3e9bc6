import type { Exchanges } from "../exchange.ts";
import { anEquity, aWithdrawalPreview } from "../samples/history.ts";
import { cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getEquity: [
    {
      name: "floating",
      summary: "A Master with an open position",
      request: { params: { investor_login: "3000003" } },
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
      answer: {
        investor_login: "3000003",
        as_of: "2026-01-02T03:04:05.678000",
        currency: "USD",
        balance: 1000,
        unposted_result: 0,
        floating_share: 450,
        equity: 1450,
        external_funds: 0,
        pending_fee: 30,
        debt: 0,
        high_water_mark: 500,
        free_to_withdraw: 0,
        free_when_flat: 1330,
        withdrawal_blocked_by: ["master_open_positions"],
        in_pool: true,
        pool: {
          master_login: "3000001",
          subscription_id: 4,
          pooled: 1000,
          joining: 0,
          units: 1000,
          pool_units: 6000,
          nav_per_unit: 1.45,
          open_positions: 1,
          as_of_deal_id: 1234567,
          as_of_deal_at: "2026-01-02T03:04:05.678000",
        },
      },
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
        as_of: "2026-01-02T03:04:05.678000",
        currency: "USD",
        balance: 250.5,
        unposted_result: 0,
        floating_share: 0,
        equity: 250.5,
        external_funds: 0,
        pending_fee: 0,
        debt: 0,
        high_water_mark: 0,
        free_to_withdraw: 250.5,
        free_when_flat: 250.5,
        withdrawal_blocked_by: [],
        in_pool: false,
        pool: null,
      },
    },
  ],
};
