import { DAY_MS } from "#kernel/values/duration.ts";
import { pageOf } from "#kernel/values/page.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Secret } from "#kernel/values/secret.ts";
import { demandKnown } from "../event-log.ts";
import { refuse } from "../../problems/refusals.ts";
import { listDeliveries } from "../store/webhook-deliveries.ts";
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  replayFrom,
  rotateSecret,
  updateWebhook,
  type Webhook,
  type WebhookChange,
} from "../store/webhooks.ts";
import { readEvents } from "../store/events.ts";
import type { SecretCipher } from "./secret-cipher.ts";
import { makeSecret } from "./signature.ts";

/** Of one client. */
export const MAX_WEBHOOKS = 10;
/** How long the previous secret signs too. */
const OVERLAP_MS = DAY_MS;

export type WithSecret = { readonly webhook: Webhook; readonly secret: Secret<string> };

type OfClient = { readonly clientId: string };
type One = OfClient & { readonly id: bigint };
type Command = { readonly commandId: string };

export type Webhooks = ReturnType<typeof openWebhooks>;

/** The endpoints of clients. A client sees its own only: another one's are not found. A command that is repeated under its id is executed once. */
export function openWebhooks(pool: Pool, configured: SecretCipher | undefined) {
  const cipher = (): SecretCipher => {
    if (configured !== undefined) return configured;
    const message = "The operator has not set PAMM_WEBHOOK_KEY, which protects the secrets of webhooks.";
    throw refuse("webhooks_not_set_up", message);
  };
  const withSecret = (webhook: Webhook): WithSecret => ({
    webhook,
    secret: cipher().decrypt(webhook.secret, webhook.clientId),
  });
  return {
    async create({ clientId, url, types }: OfClient & { url: string; types: string }, { commandId }: Command) {
      const secret = cipher().encrypt(makeSecret(), clientId);
      const own = { clientId, commandId };
      const created = await inTransaction(pool, (tx) => insertWebhook(tx, own, { url, types, secret }, MAX_WEBHOOKS));
      if (created !== undefined) return withSecret(created);
      throw refuse("too_many_webhooks", `A client may have ${MAX_WEBHOOKS} webhooks. Delete one first.`);
    },
    list: ({ clientId }: OfClient) => listWebhooks(pool, clientId),
    get: async ({ clientId, id }: One) => found(await findWebhook(pool, clientId, id), id),
    update: async ({ clientId, id, ...change }: One & WebhookChange, _command: Command) =>
      found(await updateWebhook(pool, clientId, id, change), id),
    remove: async ({ clientId, id }: One, { commandId }: Command) =>
      found(await deleteWebhook(pool, { clientId, commandId }, id), id),
    async rotate({ clientId, id }: One, { commandId }: Command) {
      const secret = cipher().encrypt(makeSecret(), clientId);
      const rotation = { secret, overlapMs: OVERLAP_MS };
      return withSecret(found(await rotateSecret(pool, { clientId, commandId }, id, rotation), id));
    },
    async replay({ clientId, id, after }: One & { readonly after: bigint }, { commandId }: Command) {
      const log = await readEvents(pool, { after, types: [], limit: 1 });
      demandKnown(after, log);
      const removed = log.removedThrough;
      if (removed > after && after > 0n) {
        const message = `Events up to ${removed} are not kept any more, so they cannot be sent again.`;
        throw refuse("events_removed", message, { details: { removed_through: String(removed) } });
      }
      return found(await inTransaction(pool, (tx) => replayFrom(tx, { clientId, commandId }, id, after)), id);
    },
    async deliveries({ clientId, id, limit, ...page }: One & Parameters<typeof listDeliveries>[2]) {
      found(await findWebhook(pool, clientId, id), id);
      return pageOf(await listDeliveries(pool, id, { ...page, limit: limit + 1 }), limit);
    },
  };
}

function found(webhook: Webhook | undefined, id: bigint): Webhook {
  if (webhook === undefined) throw refuse("webhook_not_found", `This client has no webhook ${id}.`);
  return webhook;
}
