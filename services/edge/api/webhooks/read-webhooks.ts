import { Type } from "typebox";
import { model } from "../../fields/field.ts";
import { descendingPage } from "../schemas/page.ts";
import { integerCursor, limit100 } from "../schemas/request-fields.ts";
import {
  DeliveryItem,
  deliveryItem,
  deliveryStatus,
  webhookFields,
  webhookId,
  WebhookReply,
} from "../schemas/webhook.ts";
import { route } from "../../http/route.ts";
import { endOf } from "../fee/descending.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 50;
const ABOVE_ALL_IDS = 2n ** 63n - 1n;

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

export const listWebhooks = route({
  operationId: "listWebhooks",
  method: "GET",
  url: "/api/v1/webhooks",
  scope: "webhooks",
  class: "read",
  tag: "Webhooks",
  summary: "List webhooks",
  description:
    "Those of the client of this key, also when another key of it has made them; other clients' are not shown.",
  returns: "All webhooks of the client.",
  reply: model("WebhookList", "The webhooks of a client.", {
    items: Type.Array(WebhookReply, { description: "Ascending by id; at most 10." }),
  }),
  refusals: [],
  examples: [{ name: "one", summary: "One webhook", request: {}, answer: { items: [A_WEBHOOK] } }],

  async handle({ webhooks }, _input, { client }) {
    return { items: (await webhooks.list({ clientId: client.id })).map(webhookFields) };
  },
});

export const getWebhook = route({
  operationId: "getWebhook",
  method: "GET",
  url: "/api/v1/webhooks/:webhook_id",
  scope: "webhooks",
  class: "read",
  tag: "Webhooks",
  summary: "Get a webhook",
  description: "Its state, and since when and why attempts fail. The secret is not shown.",
  returns: "The webhook.",
  params: Type.Object({ webhook_id: webhookId }),
  reply: WebhookReply,
  refusals: ["webhook_not_found"],
  examples: [
    { name: "enabled", summary: "One that works", request: { params: { webhook_id: "17" } }, answer: A_WEBHOOK },
  ],

  handle: async ({ webhooks }, { params }, { client }) =>
    webhookFields(await webhooks.get({ clientId: client.id, id: BigInt(params.webhook_id) })),
});

export const listDeliveries = route({
  operationId: "listWebhookDeliveries",
  method: "GET",
  url: "/api/v1/webhooks/:webhook_id/deliveries",
  scope: "webhooks",
  class: "read",
  tag: "Webhooks",
  summary: "List deliveries of a webhook",
  description: "The newest first, with their attempts. Those that are finished are kept for 30 days.",
  returns: "A page of deliveries.",
  params: Type.Object({ webhook_id: webhookId }),
  query: Type.Object({
    status: Type.Optional(deliveryStatus.of("Only deliveries with this status.", "pending")),
    limit: limit100(DEFAULT_LIMIT),
    cursor: Type.Optional(integerCursor("Only deliveries with a lower id. Use next_cursor.")),
  }),
  reply: model("WebhookDeliveryPage", "A page of deliveries. Descending by id.", descendingPage(DeliveryItem)),
  refusals: ["webhook_not_found"],
  examples: [
    {
      name: "pending",
      summary: "One that is tried again",
      request: { params: { webhook_id: "17" }, query: { status: "pending", limit: "2" } },
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

  async handle({ webhooks }, { params, query }, { client }) {
    const page = await webhooks.deliveries({
      clientId: client.id,
      id: BigInt(params.webhook_id),
      beforeId: query.cursor === undefined ? ABOVE_ALL_IDS : BigInt(query.cursor),
      status: query.status,
      limit: Number(query.limit ?? DEFAULT_LIMIT),
    });
    return { items: page.items.map(deliveryItem), ...endOf(page) };
  },
});
