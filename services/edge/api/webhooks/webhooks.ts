import { demandReadable } from "../../events/readable-types.ts";
import { list, model } from "../../fields/field.ts";
import { at, optional, or } from "../../fields/message.ts";
import { DEFAULT_LIMIT, idPage, integerCursor, limit100 } from "../../fields/page.ts";
import { route } from "../../http/route.ts";
import {
  DeliveryItem,
  deliveryStatus,
  isWebhookEnabled,
  newWebhookTypes,
  urlErrors,
  webhookId,
  WebhookReply,
  WebhookSecret,
  webhookTypes,
  webhookUrl,
} from "../schemas/webhook.ts";

export const createWebhook = route("POST /api/v1/webhooks", {
  scope: "webhooks",
  summary: "Create a webhook",
  description:
    "The endpoint is sent what happens from now on; replay sends earlier events too. The secret is in this answer only, and in that of a repetition under the same Idempotency-Key. A client may have 10 webhooks.",
  returns: "The webhook with its secret.",
  body: { url: webhookUrl, types: newWebhookTypes },
  reply: WebhookSecret,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the URL in GET /api/v1/webhooks before sending a new one.",
  refusals: ["too_many_webhooks", "webhooks_not_set_up"],
  check: ({ body }, { isRehearsal }) => urlErrors(body.url, isRehearsal),

  async call({ webhooks }, request, context) {
    demandReadable(request.types, [...context.key.scopes]);
    return await webhooks.create({ ...request, clientId: context.client.id }, context);
  },
});

const ABOVE_ALL_IDS = 2n ** 63n - 1n;

export const listWebhooks = route("GET /api/v1/webhooks", {
  scope: "webhooks",
  summary: "List webhooks",
  description:
    "Those of the client of this key, also when another key of it has made them; other clients' are not shown.",
  returns: "All webhooks of the client.",
  reply: model("WebhookList", "The webhooks of a client.", {
    items: list(WebhookReply, { description: "Ascending by id; at most 10." }),
  }),
  call: async ({ webhooks }, _request, { client }) => ({ items: await webhooks.list({ clientId: client.id }) }),
});

export const getWebhook = route("GET /api/v1/webhooks/:webhook_id", {
  scope: "webhooks",
  summary: "Get a webhook",
  description: "Its state, and since when and why attempts fail. The secret is not shown.",
  returns: "The webhook.",
  params: { webhook_id: webhookId },
  reply: WebhookReply,
  refusals: ["webhook_not_found"],
  call: ({ webhooks }, request, { client }) => webhooks.get({ ...request, clientId: client.id }),
});

export const listWebhookDeliveries = route("GET /api/v1/webhooks/:webhook_id/deliveries", {
  scope: "webhooks",
  summary: "List deliveries of a webhook",
  description: "The newest first, with their attempts. Those that are finished are kept for 30 days.",
  returns: "A page of deliveries.",
  params: { webhook_id: webhookId },
  query: {
    status: optional(deliveryStatus.of("Only deliveries with this status.", "pending")),
    limit: limit100(DEFAULT_LIMIT),
    cursor: at("beforeId", or(integerCursor("Only deliveries with a lower id. Use next_cursor."), ABOVE_ALL_IDS)),
  },
  reply: model("WebhookDeliveryPage", "A page of deliveries. Descending by id.", idPage(DeliveryItem)),
  refusals: ["webhook_not_found"],
  call: ({ webhooks }, request, { client }) => webhooks.deliveries({ ...request, clientId: client.id }),
});

const LOOK_UP = "Repeat it with the same Idempotency-Key, or read GET /api/v1/webhooks/{webhook_id}.";

export const updateWebhook = route("PATCH /api/v1/webhooks/:webhook_id", {
  scope: "webhooks",
  summary: "Change a webhook",
  description:
    "At least one field is required; omitted fields keep their value. `enabled: true` also begins again with a webhook that was disabled. Other types count for events that are not listed as deliveries yet.",
  returns: "The webhook after the change.",
  params: { webhook_id: webhookId },
  body: {
    url: optional(webhookUrl),
    types: optional(webhookTypes),
    enabled: optional(at("isEnabled", isWebhookEnabled)),
  },
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found"],
  check: ({ body }, { isRehearsal }) => urlErrors(body.url, isRehearsal),

  async call({ webhooks }, request, context) {
    if (request.types !== undefined) demandReadable(request.types, [...context.key.scopes]);
    return await webhooks.update({ ...request, clientId: context.client.id }, context);
  },
});

export const deleteWebhook = route("DELETE /api/v1/webhooks/:webhook_id", {
  scope: "webhooks",
  summary: "Delete a webhook",
  description: "Nothing more is sent, except what is being sent now. Its deliveries are no longer listed.",
  returns: "The webhook as it was.",
  params: { webhook_id: webhookId },
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found"],
  call: ({ webhooks }, request, context) => webhooks.remove({ ...request, clientId: context.client.id }, context),
});

export const rotateWebhookSecret = route("POST /api/v1/webhooks/:webhook_id/rotate", {
  scope: "webhooks",
  summary: "Rotate the secret of a webhook",
  description:
    "Makes a new secret, which is in this answer only. For a day, until `old_secret_until`, each request has two signatures, by the new secret and by the one before.",
  returns: "The webhook with its new secret.",
  params: { webhook_id: webhookId },
  reply: WebhookSecret,
  lookUp:
    "Repeat it with the same Idempotency-Key: the answer has the new secret again. GET /api/v1/webhooks/{webhook_id} shows whether `old_secret_until` has moved.",
  refusals: ["webhook_not_found", "webhooks_not_set_up"],
  call: ({ webhooks }, request, context) => webhooks.rotate({ ...request, clientId: context.client.id }, context),
});

export const replayWebhook = route("POST /api/v1/webhooks/:webhook_id/replay", {
  scope: "webhooks",
  summary: "Send events again",
  description:
    "Sends all events after `after`, as if none of them had been sent, each with the webhook-id that it had. What waits to be sent and is later is sent once.",
  returns: "The webhook, set back.",
  params: { webhook_id: webhookId },
  query: { after: integerCursor("Id of the last event that is not sent again; 0 for all that are kept.") },
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found", "events_removed"],
  call: ({ webhooks }, request, context) => webhooks.replay({ ...request, clientId: context.client.id }, context),
});
