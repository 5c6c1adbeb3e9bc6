import type { Exchanges } from "../exchange.ts";
import { anUnassignmentPreview, aSubscription } from "../samples/subscription.ts";
import { aReason, AT, AT_TEXT, cents, LATER } from "../samples/values.ts";

const ENDING = aReason(
  "exit_in_progress",
  "The subscription of Investor 3000004 to Master 3000001 is already ending (subscription id 9).",
);

export const exchanges: Exchanges = {
  unassignInvestor: [
    {
      name: "leaving",
      summary: "Capital leaves the Master",
      request: { body: { external_id: "CRM-7001", metadata: { segment: "retail" } } },
      services: {
        subscriptions: {
          unassign: async () => ({
            subscription: aSubscription({ status: 2, inPool: false }),
            payoutEnqueued: true,
            transferId: 77n,
            amount: cents(-250_50n),
          }),
        },
      },
      asked: [
        {
          method: "unassign",
          request: {
            masterLogin: "3000001",
            investorLogin: "3000003",
            labels: { externalId: "CRM-7001", metadata: { segment: "retail" } },
          },
        },
      ],
      answer: { subscription: { status: "PAUSED", in_pool: false } },
    },
    {
      name: "at_once",
      summary: "Nothing has to leave the Master",
      request: { query: { investor_login: "3000004" } },
      services: {
        subscriptions: {
          unassign: async () => ({
            subscription: aSubscription({ id: 10n, investorLogin: "3000004", status: 3, inPool: false, endedAt: AT }),
            payoutEnqueued: false,
            transferId: undefined,
            amount: cents(0n),
          }),
        },
      },
      answer: {
        subscription: { id: 10, investor_login: "3000004", status: "CANCELLED", in_pool: false, ended_at: AT_TEXT },
        payout_enqueued: false,
        mt5_transfer_id: null,
        amount: 0,
      },
    },
    {
      name: "queued",
      summary: "The Master has open positions",
      request: { query: { on_blocked: "queue" } },
      services: {
        subscriptions: {
          unassign: async () => ({
            subscription: aSubscription(),
            payoutEnqueued: false,
            transferId: undefined,
            amount: cents(0n),
            queuedUntil: LATER,
          }),
        },
      },
      status: 202,
    },
  ],
  previewUnassignment: [
    {
      name: "allowed",
      summary: "Capital would leave the Master",
      services: { subscriptions: { previewUnassign: async () => anUnassignmentPreview() } },
      asked: [{ method: "previewUnassign", request: { masterLogin: "3000001", investorLogin: "3000003" } }],
      answer: {
        blocking: [],
        subscription: { status: "PAUSED", in_pool: false },
        amount: -238.21,
        perf_fee_pending: "12.34",
        balance_before: "250.55",
        available_after_perf_fee: "238.21",
      },
    },
    {
      name: "blocked",
      summary: "The subscription is ending already",
      request: { query: { investor_login: "3000004" } },
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
          },
        ],
        subscription: { investor_login: "3000004", status: "PAUSED", in_pool: false },
        payout_enqueued: false,
        amount: null,
        perf_fee_pending: null,
        balance_before: null,
        available_after_perf_fee: null,
      },
    },
  ],
};
