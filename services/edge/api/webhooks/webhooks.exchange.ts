import type { Exchanges } from "../exchange.ts";
import { A_WEBHOOK_SECRET, aDelivery, aWebhook } from "../samples/edge.ts";
import { LATER } from "../samples/values.ts";

/** A webhook for all events of deposits. */
const A_WEBHOOK = {
  id: 17,
  url: "https://crm.example.com/pamm/events",
  types: "deposit.*",
  status: "enabled",
  failing_since: null,
  last_error: null,
  deferred_until: null,
  through_event_id: 1024,
  old_secret_until: null,
  created_at: "2026-01-02T03:04:05.678000",
} as const;

export const exchanges: Exchanges = {
  createWebhook: [
    {
      name: "deposits",
      summary: "All events of deposits",
      request: { body: { url: "https://crm.example.com/pamm/events", types: "deposit.*" } },
      services: { webhooks: { create: async () => ({ webhook: aWebhook(), secret: A_WEBHOOK_SECRET }) } },
      asked: [
        {
          method: "create",
          request: { clientId: "KeyOfTests01", url: "https://crm.example.com/pamm/events", types: "deposit.*" },
        },
      ],
      answer: {
        ...A_WEBHOOK,
        secret: "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=",
      },
    },
  ],
  listWebhooks: [
    {
      name: "one",
      summary: "One webhook",
      request: {},
      services: { webhooks: { list: async () => [aWebhook()] } },
      asked: [{ method: "list", request: { clientId: "KeyOfTests01" } }],
      answer: { items: [A_WEBHOOK] },
    },
  ],
  getWebhook: [
    {
      name: "enabled",
      summary: "One that works",
      request: { params: { webhook_id: "17" } },
      services: { webhooks: { get: async () => aWebhook() } },
      asked: [{ method: "get", request: { clientId: "KeyOfTests01", id: 17n } }],
      answer: A_WEBHOOK,
    },
  ],
  listWebhookDeliveries: [
    {
      name: "pending",
      summary: "One that is tried again",
      request: { params: { webhook_id: "17" }, query: { status: "pending", limit: "2" } },
      services: { webhooks: { deliveries: async () => ({ items: [aDelivery()], hasMore: false }) } },
      asked: [
        {
          method: "deliveries",
          request: { clientId: "KeyOfTests01", id: 17n, beforeId: 9223372036854775807n, status: "pending", limit: 2 },
        },
      ],
      answer: {
        items: [
          {
            id: 31,
            event_id: 1024,
            type: "deposit.executed",
            status: "pending",
            attempts: 2,
            next_attempt_at: "2026-02-03T04:05:06.789000",
            last_status: 500,
            last_error: "status_500",
            created_at: "2026-01-02T03:04:05.678000",
            finished_at: null,
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  updateWebhook: [
    {
      name: "paused",
      summary: "Stop sending for a while",
      request: { params: { webhook_id: "17" }, body: { enabled: false } },
      services: { webhooks: { update: async () => aWebhook({ isEnabled: false }) } },
      asked: [{ method: "update", request: { clientId: "KeyOfTests01", id: 17n, isEnabled: false } }],
      answer: { ...A_WEBHOOK, status: "paused" },
    },
  ],
  deleteWebhook: [
    {
      name: "deleted",
      summary: "A webhook",
      request: { params: { webhook_id: "17" } },
      services: { webhooks: { remove: async () => aWebhook() } },
      asked: [{ method: "remove", request: { clientId: "KeyOfTests01", id: 17n } }],
      answer: A_WEBHOOK,
    },
  ],
  rotateWebhookSecret: [
    {
      name: "rotated",
      summary: "Two secrets for a day",
      request: { params: { webhook_id: "17" } },
      services: {
        webhooks: { rotate: async () => ({ webhook: aWebhook({ previousUntil: LATER }), secret: A_WEBHOOK_SECRET }) },
      },
      asked: [{ method: "rotate", request: { clientId: "KeyOfTests01", id: 17n } }],
      answer: {
        ...A_WEBHOOK,
        old_secret_until: "2026-02-03T04:05:06.789000",
        secret: "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=",
      },
    },
  ],
  replayWebhook: [
    {
      name: "replayed",
      summary: "From an event on",
      request: { params: { webhook_id: "17" }, query: { after: "1000" } },
      services: { webhooks: { replay: async () => aWebhook({ throughEvent: 1_000n }) } },
      asked: [{ method: "replay", request: { clientId: "KeyOfTests01", id: 17n, after: 1000n } }],
      answer: { ...A_WEBHOOK, through_event_id: 1000 },
    },
  ],
};
