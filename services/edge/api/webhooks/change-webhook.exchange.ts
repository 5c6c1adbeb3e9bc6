import type { Exchanges } from "../exchange.ts";
import { A_WEBHOOK } from "./examples.ts";
import { aWebhook, A_WEBHOOK_SECRET } from "../samples/webhooks.ts";
import { LATER } from "../samples/values.ts";

export const exchanges: Exchanges = {
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
