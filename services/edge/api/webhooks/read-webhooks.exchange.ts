import type { Exchanges } from "../exchange.ts";
import { A_WEBHOOK } from "./examples.ts";
import { aWebhook, aDelivery } from "../samples/webhooks.ts";

export const exchanges: Exchanges = {
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
};
