import type { FieldError } from "#kernel/values/refusal.ts";
import { eventType } from "../../events/event.ts";
import type { Delivery, DeliveryStatus } from "../../events/store/webhook-deliveries.ts";
import type { Webhook } from "../../events/store/webhooks.ts";
import { addressIn, isPublicAddress } from "../../events/webhooks/public-address.ts";
import type { WithSecret } from "../../events/webhooks/webhooks.ts";
import { ALL_TYPES } from "../../fields/event-types.ts";
import { bool, integer, model, nullableInteger, nullableString, setOf, string, text } from "../../fields/field.ts";
import { at, ofWhole, or, shown, within } from "../../fields/message.ts";
import { idReply, nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { id } from "./request-fields.ts";

export const webhookId = at("id", id("Id of the webhook.", 17));

export const webhookUrl = text("webhook_url", {
  description:
    "Where events are sent with POST. `https`; plain `http` and addresses that are not public only where keys are `test`.",
  example: "https://crm.example.com/pamm/events",
  shown: { format: "uri", maxLength: 2_000 },
});

const WEBHOOK_TYPES = {
  description:
    "Types of the events that are sent, separated by commas; `deposit.*` names all of a kind, `*` all that the keys of the client may read. 403 for one that the key of the request may not read, as in `GET /events`.",
  example: "deposit.*,subscription.cancelled",
};

/** Of a change: what is omitted keeps its value, so there is no default. */
export const webhookTypes = text("event_types", WEBHOOK_TYPES);

export const newWebhookTypes = or(text("event_types", { ...WEBHOOK_TYPES, default: ALL_TYPES }), ALL_TYPES);

export const isWebhookEnabled = bool({
  description: "Whether events are sent. true also begins again after the webhook was disabled; events wait meanwhile.",
  example: true,
});

const webhookStatus = setOf("WebhookStatus", "Whether events are sent to a webhook.", {
  enabled: "Events are sent.",
  paused: "Its client has switched it off. Events wait.",
  disabled:
    "It has accepted no event for 72 hours, has answered 410, or events were removed before they were sent; `last_error` says why. Mend it, then enable it.",
});

const FIELDS = {
  id: idReply("Id of the webhook.", 17),
  url: string({ description: "Where events are sent.", example: "https://crm.example.com/pamm/events" }),
  types: string({ description: "Types of the events that are sent.", example: "deposit.*,subscription.cancelled" }),
  status: ofWhole(webhookStatus.of("Whether events are sent.", "enabled"), ({ isEnabled, disabledAt }: Webhook) => {
    if (!isEnabled) return "paused";
    return disabledAt === undefined ? "enabled" : "disabled";
  }),
  failing_since: nullableTimeReply("Since when every attempt has failed; null when the last one did not."),
  last_error: nullableString({
    description:
      "Why the last attempt has failed, as a code such as `timeout`, `redirect`, `status_500` or `econnrefused`; `status_410` and `events_removed` have disabled it. Null when it did not.",
    example: null,
  }),
  deferred_until: at(
    "askedUntil",
    nullableTimeReply(
      "Until when it has asked to be sent nothing, by 429 or 503 with `Retry-After`; null when it has not.",
    ),
  ),
  through_event_id: at(
    "throughEvent",
    integer({ description: "Events up to this id are sent, or listed as deliveries.", example: 1_024 }),
  ),
  old_secret_until: at(
    "previousUntil",
    nullableTimeReply("Until when the previous secret signs too; null without one."),
  ),
  created_at: timeReply("When it was created."),
};

export const WebhookReply = model("Webhook", "An endpoint that is sent events.", FIELDS);

export const WebhookSecret = model("WebhookSecret", "A webhook with its secret, which is shown in this answer only.", {
  ...within("webhook", FIELDS),
  secret: shown(
    string({
      description: "Secret. The key of the signatures, by the Standard Webhooks convention.",
      example: "whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=",
    }),
    (secret: WithSecret["secret"]) => secret.reveal(),
  ),
});

export const deliveryStatus = setOf<DeliveryStatus>("DeliveryStatus", "What became of a delivery.", {
  pending: "It waits for its first or next attempt.",
  delivered: "The endpoint has answered with a status from 200 to 299.",
  failed:
    "It was given up: after 72 hours, because the event was removed, or because no key of the client may read it now.",
});

export const DeliveryItem = model("WebhookDelivery", "One event for one webhook.", {
  id: idReply("Id of the delivery; the cursor of this listing.", 31),
  event_id: idReply("Id of the event.", 1_024),
  type: eventType.known("Type of the event.", "deposit.executed"),
  status: deliveryStatus.of("What became of it.", "pending"),
  attempts: integer({ description: "Attempts so far.", example: 2 }),
  next_attempt_at: ofWhole(
    nullableTimeReply("When the next attempt is due; null when there is none."),
    ({ status, nextTryAt }: Delivery) => (status === "pending" ? timestamp(nextTryAt) : null),
  ),
  last_status: nullableInteger({
    description: "HTTP status of the last attempt; null without an answer.",
    example: 500,
  }),
  last_error: nullableString({
    description: "Why the last attempt has failed, as a code; null when it did not.",
    example: "status_500",
  }),
  created_at: timeReply("When it was made."),
  finished_at: nullableTimeReply("When it was delivered or given up; null until then."),
});

/** Where real money is moved, events are sent over TLS and to the public internet only. Names are checked when they are resolved. */
export function urlErrors(url: string | undefined, isRehearsal: boolean): readonly FieldError[] {
  if (url === undefined || isRehearsal || !URL.canParse(url)) return [];
  const target = new URL(url);
  const address = addressIn(target);
  const error = (code: string, problem: string) => ({ field: "url", code, message: `url ${problem}.` });
  if (target.protocol !== "https:") return [error("https_required", "must begin with https")];
  const isPrivate = address !== undefined && !isPublicAddress(address);
  return isPrivate ? [error("address_not_allowed", "must not name an address that is not public")] : [];
}
