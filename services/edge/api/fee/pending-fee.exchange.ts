import type { Exchanges } from "../exchange.ts";
import { aPendingFee } from "../samples/fee-explanation.ts";
import { cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getPendingFee: [
    {
      name: "open_loss",
      summary: "A profit, a part of which an open loss spares",
      request: { params: { investor_login: "3000003" } },
      services: { fees: { getPendingFee: async () => aPendingFee() } },
      asked: [{ method: "getPendingFee", request: { investorLogin: "3000003" } }],
      answer: {
        investor_login: "3000003",
        master_login: "3000001",
        enabled: true,
        at: "2026-02-03T04:05:06.789000",
        pending: "181.50",
        fee: "180.00",
        debt: "1.50",
        prepaid: "0.00",
        open_weekly: "0.00",
        calculation: {
          at: "2026-02-03T04:05:06.789000",
          through_deal_id: 1234567,
          through_deal_at: "2026-01-02T03:04:05.678000",
          result: "1000.00",
          high_water_mark_before: "0.00",
          high_water_mark_after: "600.00",
          floating: "-400.00",
          marked_at: "2026-02-03T04:05:06.789000",
          marked_late_seconds: null,
          charged: [
            {
              amount: "600.00",
              earned_from: "2026-01-02T03:04:05.678000",
              earned_to: "2026-01-02T03:04:05.678000",
              rate: "0.300000",
              version_id: 17,
              share: "180.00",
            },
          ],
          spared: [
            {
              amount: "400.00",
              earned_from: "2026-01-02T03:04:05.678000",
              earned_to: "2026-01-02T03:04:05.678000",
              rate: "0.300000",
              version_id: 17,
              share: "120.00",
            },
          ],
          exact_fee: "180.00",
          rounded_off: "0.00",
          fee: "180.00",
          debt_before: "1.50",
        },
        debts: [{ master_login: "3000001", amount: "1.50", owed_since: "2026-01-02T03:04:05.678000" }],
        lines: ["At 2026-02-03 04:05:06 UTC 181.50 would be collected: a fee of 180.00 and debts of 1.50."],
      },
    },
    {
      name: "outside",
      summary: "An Investor outside a pool, without debts",
      request: { params: { investor_login: "3000004" } },
      services: {
        fees: {
          getPendingFee: async () =>
            aPendingFee({
              investorLogin: "3000004",
              masterLogin: undefined,
              enabled: false,
              pending: cents(0n),
              fee: cents(0n),
              debt: cents(0n),
              calculation: undefined,
              debts: [],
              lines: ["Fees are switched off: nothing is collected, debts included."],
            }),
        },
      },
      answer: {
        investor_login: "3000004",
        master_login: null,
        enabled: false,
        at: "2026-02-03T04:05:06.789000",
        pending: "0.00",
        fee: "0.00",
        debt: "0.00",
        prepaid: "0.00",
        open_weekly: "0.00",
        calculation: null,
        debts: [],
        lines: ["Fees are switched off: nothing is collected, debts included."],
      },
    },
  ],
};
