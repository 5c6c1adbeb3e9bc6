import { Type } from "typebox";
import { demandReadable } from "../../events/readable-types.ts";
import { route } from "../../http/route.ts";
import { urlErrors, WebhookSecret, newWebhookTypes, webhookUrl } from "../schemas/webhook.ts";

const LOOK_UP =
  "Repeat it with the same Idempotency-Key. Without one, look for the URL in GET /api/v1/webhooks before sending a new one.";

export const createWebhook = route({
  operationId: "createWebhook",
  method: "POST",
  url: "/api/v1/webhooks",
  scope: "webhooks",
  class: "money",
  tag: "Webhooks",
  summary: "Create a webhook",
  description:
    "The endpoint is sent what happens from now on; replay sends earlier events too. The secret is in this answer only, and in that of a repetition under the same Idempotency-Key. A client may have 10 webhooks.",
  returns: "The webhook with its secret.",
  body: Type.Object({ url: webhookUrl, types: newWebhookTypes }),
  reply: WebhookSecret,
  lookUp: LOOK_UP,
  refusals: ["too_many_webhooks", "webhooks_not_set_up"],
  check: ({ body }, { isRehearsal }) => urlErrors(body.url, isRehearsal),

  async call({ webhooks }, request, context) {
    demandReadable(request.types, [...context.key.scopes]);
    return await webhooks.create({ ...request, clientId: context.client.id }, context);
  },
});
