import { Secret } from "#kernel/values/secret.ts";
import type { StoredEvent } from "../../events/store/events.ts";
import type { Delivery } from "../../events/store/webhook-deliveries.ts";
import type { Webhook } from "../../events/store/webhooks.ts";
import type { ListedKey } from "../../identity/store/api-keys.ts";
import { AT, LATER, sample } from "./values.ts";

const OPERATION = "0198c0de-0000-7000-8000-000000000001";

export function anEvent(own: Partial<StoredEvent> = {}): StoredEvent {
  return {
    id: 1_024n,
    key: "funding-77",
    type: "deposit.executed",
    state: "executed",
    subject: OPERATION,
    occurredAt: AT,
    login: "3000003",
    masterLogin: "",
    operationId: OPERATION,
    amountMinor: 250_50n,
    dealId: 1_234_567n,
    reason: "",
    ...own,
  };
}

export const aListedKey = sample<ListedKey>({
  id: "KeyOfAnna001",
  environment: "test",
  name: "anna",
  scopes: ["masters:read", "ops"],
  hasAllowList: false,
  duplicateComment: "allow",
  clientId: "KeyOfAnna001",
  replaces: null,
  replacedBy: null,
  createdAt: AT,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
});

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
