import { Type } from "typebox";
import { integerCursor } from "../schemas/request-fields.ts";
import {
  isWebhookEnabled,
  urlErrors,
  webhookId,
  WebhookReply,
  WebhookSecret,
  webhookTypes,
  webhookUrl,
} from "../schemas/webhook.ts";
import { at } from "../../fields/message.ts";
import { demandReadable } from "../../events/readable-types.ts";
import { route } from "../../http/route.ts";

const LOOK_UP = "Repeat it with the same Idempotency-Key, or read GET /api/v1/webhooks/{webhook_id}.";

export const updateWebhook = route({
  operationId: "updateWebhook",
  method: "PATCH",
  url: "/api/v1/webhooks/:webhook_id",
  scope: "webhooks",
  class: "money",
  tag: "Webhooks",
  summary: "Change a webhook",
  description:
    "At least one field is required; omitted fields keep their value. `enabled: true` also begins again with a webhook that was disabled. Other types count for events that are not listed as deliveries yet.",
  returns: "The webhook after the change.",
  params: Type.Object({ webhook_id: webhookId }),
  body: Type.Object({
    url: Type.Optional(webhookUrl),
    types: Type.Optional(webhookTypes),
    enabled: Type.Optional(at("isEnabled", isWebhookEnabled)),
  }),
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found"],
  check: ({ body }, { isRehearsal }) => urlErrors(body.url, isRehearsal),

  async call({ webhooks }, request, context) {
    if (request.types !== undefined) demandReadable(request.types, [...context.key.scopes]);
    return await webhooks.update({ ...request, clientId: context.client.id }, context);
  },
});

export const deleteWebhook = route({
  operationId: "deleteWebhook",
  method: "DELETE",
  url: "/api/v1/webhooks/:webhook_id",
  scope: "webhooks",
  class: "money",
  tag: "Webhooks",
  summary: "Delete a webhook",
  description: "Nothing more is sent, except what is being sent now. Its deliveries are no longer listed.",
  returns: "The webhook as it was.",
  params: Type.Object({ webhook_id: webhookId }),
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found"],
  call: ({ webhooks }, request, context) => webhooks.remove({ ...request, clientId: context.client.id }, context),
});

export const rotateWebhook = route({
  operationId: "rotateWebhookSecret",
  method: "POST",
  url: "/api/v1/webhooks/:webhook_id/rotate",
  scope: "webhooks",
  class: "money",
  tag: "Webhooks",
  summary: "Rotate the secret of a webhook",
  description:
    "Makes a new secret, which is in this answer only. For a day, until `old_secret_until`, each request has two signatures, by the new secret and by the one before.",
  returns: "The webhook with its new secret.",
  params: Type.Object({ webhook_id: webhookId }),
  reply: WebhookSecret,
  lookUp:
    "Repeat it with the same Idempotency-Key: the answer has the new secret again. GET /api/v1/webhooks/{webhook_id} shows whether `old_secret_until` has moved.",
  refusals: ["webhook_not_found", "webhooks_not_set_up"],
  call: ({ webhooks }, request, context) => webhooks.rotate({ ...request, clientId: context.client.id }, context),
});

export const replayWebhook = route({
  operationId: "replayWebhook",
  method: "POST",
  url: "/api/v1/webhooks/:webhook_id/replay",
  scope: "webhooks",
  class: "money",
  tag: "Webhooks",
  summary: "Send events again",
  description:
    "Sends all events after `after`, as if none of them had been sent, each with the webhook-id that it had. What waits to be sent and is later is sent once.",
  returns: "The webhook, set back.",
  params: Type.Object({ webhook_id: webhookId }),
  query: Type.Object({ after: integerCursor("Id of the last event that is not sent again; 0 for all that are kept.") }),
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found", "events_removed"],
  call: ({ webhooks }, request, context) => webhooks.replay({ ...request, clientId: context.client.id }, context),
});
