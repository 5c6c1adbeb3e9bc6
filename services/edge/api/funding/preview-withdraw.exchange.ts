import type { Exchanges } from "../exchange.ts";
import { aWithdrawalPreview } from "../samples/funding.ts";
import { aReason, cents } from "../samples/values.ts";

const OPEN_POSITIONS = aReason(
  "master_open_positions",
  "The Master has open positions: 2. Retry when they are closed.",
  { open_positions: "2" },
);

export const exchanges: Exchanges = {
  previewWithdrawal: [
    {
      name: "allowed",
      summary: "It would be paid out, less the fee",
      request: { query: { amount: "250.55" } },
      services: {
        funding: { previewWithdraw: async () => aWithdrawalPreview({ effectiveWithdraw: cents(238_21n) }) },
      },
      asked: [
        {
          method: "previewWithdraw",
          request: {
            login: "3000003",
            amount: { currencyCode: "USD", minorUnits: 25055n },
            comment: "API Withdraw",
            client: { keyId: "KeyOfTests01", choseComment: false, rejectsDuplicates: false },
          },
        },
      ],
      answer: {
        blocking: [],
        requested_amount: 250.55,
        effective_withdraw: 238.21,
        message:
          "Would withdraw 238.21 USD of 250.55 USD: the full available amount (not available: performance fee 12.34 USD).",
        perf_fee_pending_at_request: "12.34",
        balance_before: "250.55",
        available_after_perf_fee: "238.21",
      },
    },
    {
      name: "blocked",
      summary: "The Master has open positions",
      request: { query: { amount: "50", comment: "CRM-2026-0001" } },
      services: {
        funding: {
          previewWithdraw: async () => ({
            ...aWithdrawalPreview({ effectiveWithdraw: cents(50_00n) }),
            refusals: [OPEN_POSITIONS],
          }),
        },
      },
      answer: {
        allowed: false,
        blocking: [{ open_positions: 2 }],
        requested_amount: 50,
        effective_withdraw: 50,
        message: "Would withdraw 50.00 USD if nothing blocked it.",
        perf_fee_pending_at_request: "12.34",
        balance_before: "250.55",
        available_after_perf_fee: "238.21",
      },
    },
  ],
};
