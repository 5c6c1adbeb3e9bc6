import { Type } from "typebox";
import { list, model } from "../../fields/field.ts";
import { at, or } from "../../fields/message.ts";
import { idPage } from "../schemas/page.ts";
import { DEFAULT_LIMIT, integerCursor, limit100 } from "../schemas/request-fields.ts";
import { DeliveryItem, deliveryStatus, webhookId, WebhookReply } from "../schemas/webhook.ts";
import { route } from "../../http/route.ts";

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
    items: list(WebhookReply, { description: "Ascending by id; at most 10." }),
  }),
  refusals: [],
  call: async ({ webhooks }, _request, { client }) => ({ items: await webhooks.list({ clientId: client.id }) }),
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
  call: ({ webhooks }, request, { client }) => webhooks.get({ ...request, clientId: client.id }),
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
    cursor: at("beforeId", or(integerCursor("Only deliveries with a lower id. Use next_cursor."), ABOVE_ALL_IDS)),
  }),
  reply: model("WebhookDeliveryPage", "A page of deliveries. Descending by id.", idPage(DeliveryItem)),
  refusals: ["webhook_not_found"],
  call: ({ webhooks }, request, { client }) => webhooks.deliveries({ ...request, clientId: client.id }),
});
