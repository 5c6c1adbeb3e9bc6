import type { Exchanges } from "../exchange.ts";
import { anUnassignmentPreview, aSubscription } from "../samples/subscription.ts";
import { aReason } from "../samples/values.ts";

const SUBSCRIPTION = {
  id: 9,
  master_login: "3000001",
  investor_login: "3000003",
  status: "PAUSED",
  in_pool: false,
  started_at: "2026-01-02T03:04:05.678000",
  ended_at: null,
} as const;

const ENDING = aReason(
  "exit_in_progress",
  "The subscription of Investor 3000004 to Master 3000001 is already ending (subscription id 9).",
);

export const exchanges: Exchanges = {
  previewUnassignment: [
    {
      name: "allowed",
      summary: "Capital would leave the Master",
      request: { query: { master_login: "3000001", investor_login: "3000003" } },
      services: { subscriptions: { previewUnassign: async () => anUnassignmentPreview() } },
      asked: [{ method: "previewUnassign", request: { masterLogin: "3000001", investorLogin: "3000003" } }],
      answer: {
        allowed: true,
        blocking: [],
        subscription: SUBSCRIPTION,
        payout_enqueued: true,
        amount: -238.21,
        perf_fee_pending: "12.34",
        balance_before: "250.55",
        available_after_perf_fee: "238.21",
      },
    },
    {
      name: "blocked",
      summary: "The subscription is ending already",
      request: { query: { master_login: "3000001", investor_login: "3000004" } },
      services: {
        subscriptions: {
          previewUnassign: async () =>
            anUnassignmentPreview({
              refusals: [ENDING],
              subscription: aSubscription({ status: 2, inPool: false, investorLogin: "3000004" }),
              figures: undefined,
            }),
        },
      },
      answer: {
        allowed: false,
        blocking: [
          {
            code: "exit_in_progress",
            detail: "The subscription of Investor 3000004 to Master 3000001 is already ending (subscription id 9).",
            retryable: false,
          },
        ],
        subscription: { ...SUBSCRIPTION, investor_login: "3000004" },
        payout_enqueued: false,
        amount: null,
        perf_fee_pending: null,
        balance_before: null,
        available_after_perf_fee: null,
      },
    },
  ],
};
