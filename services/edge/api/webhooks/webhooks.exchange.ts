import type { Exchanges } from "../exchange.ts";
import { A_WEBHOOK_SECRET, aDelivery, aWebhook } from "../samples/edge.ts";
import { LATER, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  createWebhook: [
    {
      name: "deposits",
      summary: "All events of deposits",
      request: { body: { types: "deposit.*" } },
      services: { webhooks: { create: async () => ({ webhook: aWebhook(), secret: A_WEBHOOK_SECRET }) } },
      asked: [
        {
          method: "create",
          request: { clientId: "KeyOfTests01", url: "https://crm.example.com/pamm/events", types: "deposit.*" },
        },
      ],
      answer: { types: "deposit.*" },
    },
  ],
  listWebhooks: [
    {
      name: "one",
      summary: "One webhook",
      services: { webhooks: { list: async () => [aWebhook()] } },
      asked: [{ method: "list", request: { clientId: "KeyOfTests01" } }],
      answer: { items: [{ types: "deposit.*" }] },
    },
  ],
  getWebhook: [
    {
      name: "enabled",
      summary: "One that works",
      services: { webhooks: { get: async () => aWebhook() } },
      asked: [{ method: "get", request: { clientId: "KeyOfTests01", id: 17n } }],
      answer: { types: "deposit.*" },
    },
  ],
  listWebhookDeliveries: [
    {
      name: "pending",
      summary: "One that is tried again",
      request: { query: { status: "pending", limit: "2" } },
      services: { webhooks: { deliveries: async () => ({ items: [aDelivery()], hasMore: false }) } },
      asked: [
        {
          method: "deliveries",
          request: { clientId: "KeyOfTests01", id: 17n, beforeId: 9223372036854775807n, status: "pending", limit: 2 },
        },
      ],
      answer: { items: [{ next_attempt_at: LATER_TEXT }], next_cursor: null },
    },
  ],
  updateWebhook: [
    {
      name: "paused",
      summary: "Stop sending for a while",
      request: { body: { enabled: false } },
      services: { webhooks: { update: async () => aWebhook({ isEnabled: false }) } },
      asked: [{ method: "update", request: { clientId: "KeyOfTests01", id: 17n, isEnabled: false } }],
      answer: { types: "deposit.*", status: "paused" },
    },
  ],
  deleteWebhook: [
    {
      name: "deleted",
      summary: "A webhook",
      services: { webhooks: { remove: async () => aWebhook() } },
      asked: [{ method: "remove", request: { clientId: "KeyOfTests01", id: 17n } }],
      answer: { types: "deposit.*" },
    },
  ],
  rotateWebhookSecret: [
    {
      name: "rotated",
      summary: "Two secrets for a day",
      services: {
        webhooks: { rotate: async () => ({ webhook: aWebhook({ previousUntil: LATER }), secret: A_WEBHOOK_SECRET }) },
      },
      asked: [{ method: "rotate", request: { clientId: "KeyOfTests01", id: 17n } }],
      answer: { types: "deposit.*", old_secret_until: LATER_TEXT },
    },
  ],
  replayWebhook: [
    {
      name: "replayed",
      summary: "From an event on",
      request: { query: { after: "1000" } },
      services: { webhooks: { replay: async () => aWebhook({ throughEvent: 1_000n }) } },
      asked: [{ method: "replay", request: { clientId: "KeyOfTests01", id: 17n, after: 1000n } }],
      answer: { types: "deposit.*", through_event_id: 1000 },
    },
  ],
};
