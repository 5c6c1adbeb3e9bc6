import type { Exchanges } from "../exchange.ts";
import { aQueuedWithdrawal, aWithdrawal } from "../samples/funding.ts";
import { cents } from "../samples/values.ts";

export const exchanges: Exchanges = {
  withdrawFunds: [
    {
      name: "paid_out",
      summary: "Paid out in full",
      request: { query: { amount: "50" }, body: { external_id: "CRM-7001", metadata: { segment: "retail" } } },
      services: { funding: { withdraw: async (_request, { commandId }) => aWithdrawal({ operationId: commandId }) } },
      asked: [
        {
          method: "withdraw",
          request: {
            login: "3000003",
            amount: { currencyCode: "USD", minorUnits: 5000n },
            comment: "API Withdraw",
            client: { keyId: "KeyOfTests01", choseComment: false, rejectsDuplicates: false },
            labels: { externalId: "CRM-7001", metadata: { segment: "retail" } },
          },
        },
      ],
      answer: {
        requested_amount: 50,
        effective_withdraw: 50,
        message: "Withdrew 50.00 USD.",
        perf_fee_pending_at_request: "0.00",
        balance_before: "250.55",
        available_after_perf_fee: "250.55",
      },
    },
    {
      name: "reduced",
      summary: "Less is available than requested",
      request: { query: { amount: "1000.00", comment: "CRM-2026-0002" } },
      services: {
        funding: {
          withdraw: async (_request, { commandId }) =>
            aWithdrawal({
              operationId: commandId,
              requestedAmount: cents(1_000_00n),
              effectiveWithdraw: cents(238_21n),
              pendingFee: cents(12_34n),
              availableAfterFee: cents(238_21n),
            }),
        },
      },
      answer: {
        requested_amount: 1000,
        effective_withdraw: 238.21,
        message:
          "Withdrew 238.21 USD of 1,000.00 USD: the full available amount (not available: performance fee 12.34 USD).",
        perf_fee_pending_at_request: "12.34",
        balance_before: "250.55",
        available_after_perf_fee: "238.21",
      },
    },
    {
      name: "no_funds",
      summary: "Nothing is available",
      request: { query: { amount: "10.00", comment: "CRM-2026-0003" } },
      services: {
        funding: {
          withdraw: async (_request, { commandId }) =>
            aWithdrawal({
              operationId: commandId,
              requestedAmount: cents(10_00n),
              effectiveWithdraw: cents(0n),
              balanceBefore: cents(0n),
              availableAfterFee: cents(0n),
              dealId: undefined,
            }),
        },
      },
      answer: {
        status: "no_funds",
        requested_amount: 10,
        effective_withdraw: 0,
        message: "Balance is 0.00 USD; nothing was withdrawn.",
        perf_fee_pending_at_request: "0.00",
        balance_before: "0.00",
        available_after_perf_fee: "0.00",
        mt5_deal_id: null,
      },
    },
    {
      name: "queued",
      summary: "The Master has open positions",
      request: { query: { amount: "50", comment: "CRM-2026-0004", on_blocked: "queue", expires_in: "P2D" } },
      services: {
        funding: { withdraw: async (_request, { commandId }) => aQueuedWithdrawal({ operationId: commandId }) },
      },
      status: 202,
      answer: { requested_amount: 50 },
    },
  ],
};
