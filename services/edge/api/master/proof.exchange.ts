import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Exchanges } from "../exchange.ts";
import { anAccountProof, aProof } from "../samples/subscription.ts";
import { AT, AT_TEXT, cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  getProof: [
    {
      name: "in_progress",
      summary: "A report that has not converged",
      request: { query: { limit: "1" } },
      services: {
        subscriptions: {
          getProof: async () =>
            aProof({
              investors: [anAccountProof({ difference: cents(-5n), inFlight: cents(7_00n), lastDealId: 0n })],
              converged: false,
              lagMs: 1_500n,
              hasMore: true,
              investorsCount: 2n,
              unredeemed: cents(5n),
              waits: [
                {
                  reason: MarketWaitReason.FREE_MARGIN,
                  amount: cents(390_00n),
                  since: AT,
                  message: "390.00 USD of fees, withdrawals or exits is above the free margin of Master 3000001.",
                },
              ],
            }),
        },
      },
      asked: [{ method: "getProof", request: { masterLogin: "3000001", afterSubscriptionId: 0n, limit: 1 } }],
      answer: {
        converged: false,
        unredeemed: 0.05,
        fees_closed_through: AT_TEXT,
        waits: [{ message: "390.00 USD of fees, withdrawals or exits is above the free margin of Master 3000001." }],
        lag_ms: 1500,
        total: { platform_balance: 2040, ledger_balance: 2040 },
        master: { mt5_login: "3000001" },
        investors: [{ in_flight: 7, difference: -0.05, last_deal_id: null }],
        next_cursor: "AAAAAAAAAAnRvV24wdgMzQ8X",
        has_more: true,
      },
    },
  ],
};
