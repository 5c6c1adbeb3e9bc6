import { Secret } from "#kernel/secret.ts";
import type { Delivery } from "../../events/store/webhook-deliveries.ts";
import type { Webhook } from "../../events/store/webhooks.ts";
import { AT, LATER } from "./values.ts";

export function aWebhook(own: Partial<Webhook> = {}): Webhook {
  return {
    id: 17n,
    clientId: "KeyOfTests01",
    url: "https://crm.example.com/pamm/events",
    types: "deposit.*",
    isEnabled: true,
    throughEvent: 1_024n,
    failingSince: undefined,
    disabledAt: undefined,
    lastError: "",
    askedUntil: undefined,
    previousUntil: undefined,
    createdAt: AT,
    secret: "encrypted",
    ...own,
  };
}

export const A_WEBHOOK_SECRET = new Secret("whsec_c2VjcmV0IG9mIGFuIGV4YW1wbGUsIDMyIGJ5dGVzISE=");

export function aDelivery(own: Partial<Delivery> = {}): Delivery {
  return {
    id: 31n,
    eventId: 1_024n,
    type: "deposit.executed",
    status: "pending",
    attempts: 2,
    nextTryAt: LATER,
    lastStatus: 500,
    lastError: "status_500",
    createdAt: AT,
    finishedAt: undefined,
    ...own,
  };
}
