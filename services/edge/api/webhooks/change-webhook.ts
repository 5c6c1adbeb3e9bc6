import { Type } from "typebox";
import { integerCursor } from "../schemas/request-fields.ts";
import {
  isWebhookEnabled,
  urlErrors,
  webhookFields,
  webhookId,
  WebhookReply,
  webhookSecret,
  WebhookSecret,
  webhookTypes,
  webhookUrl,
} from "../schemas/webhook.ts";
import { demandReadable } from "../../events/readable-types.ts";
import { route } from "../../http/route.ts";

const KNOWN = ["url", "types", "enabled"] as const;
const LOOK_UP = "Repeat it with the same Idempotency-Key, or read GET /api/v1/webhooks/{webhook_id}.";

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
    enabled: Type.Optional(isWebhookEnabled),
  }),
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found"],
  examples: [
    {
      name: "paused",
      summary: "Stop sending for a while",
      request: { params: { webhook_id: "17" }, body: { enabled: false } },
      answer: { ...A_WEBHOOK, status: "paused" },
    },
  ],
  check({ body }, { isRehearsal }) {
    if (KNOWN.some((name) => body[name] !== undefined)) return urlErrors(body.url, isRehearsal);
    return [{ field: "body", code: "required", message: `body must have at least one of ${KNOWN.join(", ")}.` }];
  },

  async handle({ webhooks }, { params, body }, context) {
    if (body.types !== undefined) demandReadable(body.types, [...context.key.scopes]);
    const change = { url: body.url, types: body.types, isEnabled: body.enabled };
    const webhook = { clientId: context.client.id, id: BigInt(params.webhook_id) };
    return webhookFields(await webhooks.update({ ...webhook, ...change }, context));
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
  description: "Nothing is sent any more, but what is being sent. Its deliveries are not listed any more.",
  returns: "The webhook as it was.",
  params: Type.Object({ webhook_id: webhookId }),
  reply: WebhookReply,
  lookUp: LOOK_UP,
  refusals: ["webhook_not_found"],
  examples: [{ name: "deleted", summary: "A webhook", request: { params: { webhook_id: "17" } }, answer: A_WEBHOOK }],

  async handle({ webhooks }, { params }, context) {
    const webhook = { clientId: context.client.id, id: BigInt(params.webhook_id) };
    return webhookFields(await webhooks.remove(webhook, context));
  },
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
  examples: [
    {
      name: "rotated",
      summary: "Two secrets for a day",
      request: { params: { webhook_id: "17" } },
      answer: {
        ...A_WEBHOOK,
        old_secret_until: "2026-02-03T04:05:06.789000",
        secret: "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=",
      },
    },
  ],

  async handle({ webhooks }, { params }, context) {
    const webhook = { clientId: context.client.id, id: BigInt(params.webhook_id) };
    return webhookSecret(await webhooks.rotate(webhook, context));
  },
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
  examples: [
    {
      name: "replayed",
      summary: "From an event on",
      request: { params: { webhook_id: "17" }, query: { after: "1000" } },
      answer: { ...A_WEBHOOK, through_event_id: 1000 },
    },
  ],

  async handle({ webhooks }, { params, query }, context) {
    const webhook = { clientId: context.client.id, id: BigInt(params.webhook_id), after: BigInt(query.after) };
    return webhookFields(await webhooks.replay(webhook, context));
  },
});
