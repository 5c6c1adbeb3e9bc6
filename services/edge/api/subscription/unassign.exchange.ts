import type { Exchanges } from "../exchange.ts";
import { aSubscription } from "../samples/subscription.ts";
import { cents, LATER, AT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  unassignInvestor: [
    {
      name: "leaving",
      summary: "Capital leaves the Master",
      request: {
        body: { external_id: "CRM-7001", metadata: { segment: "retail" } },
        query: { master_login: "3000001", investor_login: "3000003" },
      },
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
      answer: {
        subscription: {
          id: 9,
          master_login: "3000001",
          investor_login: "3000003",
          status: "PAUSED",
          in_pool: false,
          started_at: "2026-01-02T03:04:05.678000",
          ended_at: null,
        },
        payout_enqueued: true,
        mt5_transfer_id: 77,
        amount: -250.5,
      },
    },
    {
      name: "at_once",
      summary: "Nothing has to leave the Master",
      request: { query: { master_login: "3000001", investor_login: "3000004" } },
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
        subscription: {
          id: 10,
          master_login: "3000001",
          investor_login: "3000004",
          status: "CANCELLED",
          in_pool: false,
          started_at: "2026-01-02T03:04:05.678000",
          ended_at: "2026-01-02T03:04:05.678000",
        },
        payout_enqueued: false,
        mt5_transfer_id: null,
        amount: 0,
      },
    },
    {
      name: "queued",
      summary: "The Master has open positions",
      request: { query: { master_login: "3000001", investor_login: "3000003", on_blocked: "queue" } },
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
      answer: {
        status: "queued",
        subscription: {
          id: 9,
          master_login: "3000001",
          investor_login: "3000003",
          status: "ACTIVE",
          in_pool: true,
          started_at: "2026-01-02T03:04:05.678000",
          ended_at: null,
        },
        payout_enqueued: false,
        mt5_transfer_id: null,
        amount: 0,
      },
    },
  ],
};
