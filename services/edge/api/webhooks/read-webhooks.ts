import { Type } from "typebox";
import { model } from "../../fields/field.ts";
import { idPage } from "../schemas/page.ts";
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
import { jsonInteger } from "../../wire/json-number.ts";

/** Part of the HTTP contract. */
const DEFAULT_LIMIT = 50;
const ABOVE_ALL_IDS = 2n ** 63n - 1n;

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
  reply: model("WebhookDeliveryPage", "A page of deliveries. Descending by id.", idPage(DeliveryItem)),
  refusals: ["webhook_not_found"],

  async handle({ webhooks }, { params, query }, { client }) {
    const page = await webhooks.deliveries({
      clientId: client.id,
      id: BigInt(params.webhook_id),
      beforeId: query.cursor === undefined ? ABOVE_ALL_IDS : BigInt(query.cursor),
      status: query.status,
      limit: Number(query.limit ?? DEFAULT_LIMIT),
    });
    const items = page.items.map(deliveryItem);
    const last = page.hasMore ? items.at(-1) : undefined;
    return { items, next_cursor: last === undefined ? null : jsonInteger(last.id), has_more: page.hasMore };
  },
});
