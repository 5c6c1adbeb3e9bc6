import type { Exchanges } from "../exchange.ts";
import { A_WEBHOOK } from "./examples.ts";
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
        ...A_WEBHOOK,
        secret: "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=",
      },
    },
  ],
};
