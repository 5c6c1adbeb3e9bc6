import type { Exchanges } from "../exchange.ts";
import { aWebhook, A_WEBHOOK_SECRET } from "../samples/webhooks.ts";

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
        secret: "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=",
      },
    },
  ],
};
