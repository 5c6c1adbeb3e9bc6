import {
  execute,
  fragment,
  many,
  matchesRow,
  maybeOne,
  type Queryable,
  sql,
  type Statement,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { BOOTSTRAP_ID } from "../../identity/keys/caller.ts";
import { SCOPES } from "../../wire/scopes.ts";

/** An endpoint as its client sees it. */
export type Webhook = {
  readonly id: bigint;
  readonly clientId: string;
  readonly url: string;
  readonly types: string;
  readonly isEnabled: boolean;
  readonly throughEvent: bigint;
  readonly failingSince: Date | undefined;
  readonly disabledAt: Date | undefined;
  readonly lastError: string;
  /** Until then it has asked to be sent nothing. */
  readonly askedUntil: Date | undefined;
  readonly previousUntil: Date | undefined;
  readonly createdAt: Date;
  /** Encrypted. */
  readonly secret: string;
};

/** Whose request it is, and under which command. */
export type Own = { readonly clientId: string; readonly commandId: string };

const WEBHOOK = fragment`
  id, client_id as "clientId", url, types, is_enabled as "isEnabled", through_event as "throughEvent", failing_since as "failingSince",
  disabled_at as "disabledAt", last_error as "lastError",
  case when asked_until > clock_timestamp() then asked_until end as "askedUntil",
  case when previous_until > clock_timestamp() then previous_until end as "previousUntil", created_at as "createdAt", secret`;

async function webhookOf(db: Queryable, statement: Statement): Promise<Webhook | undefined> {
  const row = await maybeOne<Webhook>(db, statement);
  return row && withoutNulls(row);
}

/**
 * Undefined when the client has as many as it may have. It is sent what happens from now on. A repeated command gets what the first one has made.
 */
export async function insertWebhook(
  tx: Transaction,
  { clientId, commandId }: Own,
  webhook: { readonly url: string; readonly types: string; readonly secret: string },
  most: number,
): Promise<Webhook | undefined> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${clientId}`}, 0))`);
  const known = await webhookOf(
    tx,
    sql`select ${WEBHOOK} from webhook where client_id = ${clientId} and command_id = ${commandId}`,
  );
  if (known !== undefined) return known;
  return await webhookOf(
    tx,
    sql`insert into webhook (client_id, command_id, url, types, secret, through_event)
        select ${clientId}, ${commandId}, ${webhook.url}, ${webhook.types}, ${webhook.secret},
               (select coalesce(max(event.id), 0) from event)
        where (select count(*) from webhook where client_id = ${clientId} and deleted_at is null) < ${most}
        returning ${WEBHOOK}`,
  );
}

/** Those of the client, ascending by id. */
export async function listWebhooks(db: Queryable, clientId: string): Promise<Webhook[]> {
  const rows = await many<Webhook>(
    db,
    sql`select ${WEBHOOK} from webhook where client_id = ${clientId} and deleted_at is null order by id`,
  );
  return rows.map(withoutNulls);
}

/** Undefined also when it is another client's. */
export async function findWebhook(db: Queryable, clientId: string, id: bigint): Promise<Webhook | undefined> {
  return await webhookOf(
    db,
    sql`select ${WEBHOOK} from webhook where client_id = ${clientId} and id = ${id} and deleted_at is null`,
  );
}

export type WebhookChange = {
  readonly url: string | undefined;
  readonly types: string | undefined;
  readonly isEnabled: boolean | undefined;
};

/** What is enabled, or has another address, begins without failures: what waits is due at once, and its time has not begun. */
export async function updateWebhook(
  db: Queryable,
  clientId: string,
  id: bigint,
  { url, types, isEnabled }: WebhookChange,
): Promise<Webhook | undefined> {
  const begins = fragment`(${isEnabled ?? false} or (${url ?? null}::text is not null and ${url ?? null}::text <> url))`;
  const own = fragment`client_id = ${clientId} and id = ${id} and deleted_at is null`;
  return await webhookOf(
    db,
    sql`with waiting as (
          select id from webhook_delivery
          where webhook_id = ${id} and status = 'pending' and exists (select from webhook where ${own} and ${begins})
          for update skip locked
        ), due as (
          update webhook_delivery set next_try_at = clock_timestamp(), first_try_at = null from waiting where webhook_delivery.id = waiting.id
        )
        update webhook
        set url = coalesce(${url}, url), types = coalesce(${types}, types), is_enabled = coalesce(${isEnabled}, is_enabled),
            disabled_at = case when ${begins} then null else disabled_at end,
            failures = case when ${begins} then 0 else failures end,
            failing_since = case when ${begins} then null else failing_since end,
            paused_until = case when ${begins} then '-infinity' else paused_until end,
            asked_until = case when ${begins} then '-infinity' else asked_until end,
            last_error = case when ${begins} then '' else last_error end
        where ${own}
        returning ${WEBHOOK}`,
  );
}

/** A repeated command finds what it has deleted. */
export async function deleteWebhook(
  db: Queryable,
  { clientId, commandId }: Own,
  id: bigint,
): Promise<Webhook | undefined> {
  return await webhookOf(
    db,
    sql`update webhook
        set deleted_at = coalesce(deleted_at, clock_timestamp()), deleted_by = ${commandId}
        where client_id = ${clientId} and id = ${id} and (deleted_at is null or deleted_by = ${commandId})
        returning ${WEBHOOK}`,
  );
}

/** The secret so far signs too for the overlap. A repeated command changes nothing. */
export async function rotateSecret(
  db: Queryable,
  { clientId, commandId }: Own,
  id: bigint,
  { secret, overlapMs }: { readonly secret: string; readonly overlapMs: number },
): Promise<Webhook | undefined> {
  return await webhookOf(
    db,
    sql`update webhook
        set previous_secret = case when rotated_by = ${commandId} then previous_secret else secret end,
            previous_until = case when rotated_by = ${commandId} then previous_until
                                  else clock_timestamp() + ${overlapMs} * interval '1 millisecond' end,
            secret = case when rotated_by = ${commandId} then secret else ${secret} end,
            rotated_by = ${commandId}
        where client_id = ${clientId} and id = ${id} and deleted_at is null
        returning ${WEBHOOK}`,
  );
}

/** Sets it back, or on. Deliveries that wait for later events are made again from there. A repeated command changes nothing. */
export async function replayFrom(
  tx: Transaction,
  { clientId, commandId }: Own,
  id: bigint,
  after: bigint,
): Promise<Webhook | undefined> {
  const row = await maybeOne<Webhook & { isRepeated: boolean }>(
    tx,
    sql`select replayed_by = ${commandId} as "isRepeated", ${WEBHOOK}
        from webhook where client_id = ${clientId} and id = ${id} and deleted_at is null for update`,
  );
  if (row === undefined) return undefined;
  const { isRepeated, ...webhook } = row;
  if (isRepeated) return withoutNulls(webhook);
  await execute(
    tx,
    sql`delete from webhook_delivery where webhook_id = ${id} and event_id > ${after} and status = 'pending'`,
  );
  return await webhookOf(
    tx,
    sql`update webhook set through_event = ${after}, replayed_by = ${commandId} where id = ${id} returning ${WEBHOOK}`,
  );
}

/** The keys of the client of the row `webhook` that permit it now, also when they were made after it. */
const KEYS_OF_CLIENT = fragment`
  api_key where api_key.client_id = webhook.client_id and 'webhooks' = any (scopes) and revoked_at is null
    and (expires_at is null or expires_at > clock_timestamp())`;

/** The rights of these keys. */
export const SCOPES_OF_CLIENT = fragment`
  (case when webhook.client_id = ${BOOTSTRAP_ID} then ${SCOPES}::text[]
        else array(select distinct unnest(scopes) from ${KEYS_OF_CLIENT}) end)`;

/** A condition of the row `webhook`: it is sent events. */
export const IS_SERVED = fragment`
  webhook.is_enabled and webhook.disabled_at is null and webhook.deleted_at is null
  and (
    exists (select from ${KEYS_OF_CLIENT})
    or (webhook.client_id = ${BOOTSTRAP_ID} and exists (select from key_system where has_bootstrap_key))
  )`;

export async function hasWebhooks(db: Queryable): Promise<boolean> {
  return await matchesRow(db, sql`select from webhook where ${IS_SERVED} limit 1`);
}

/** Encrypted, with the previous one while it signs too. */
export type StoredSecrets = { readonly secret: string; readonly previous: string | null };

/** A page of all, for the encryption of their secrets. */
export async function listSecrets(db: Queryable, afterId: bigint, limit: number) {
  return await many<{ id: bigint; clientId: string } & StoredSecrets>(
    db,
    sql`select id, client_id as "clientId", secret, previous_secret as previous from webhook where id > ${afterId} order by id limit ${limit}`,
  );
}

/** Unless it was rotated meanwhile. */
export async function saveSecrets(db: Queryable, id: bigint, from: StoredSecrets, to: StoredSecrets): Promise<void> {
  await execute(
    db,
    sql`update webhook set secret = ${to.secret}, previous_secret = ${to.previous}
        where id = ${id} and secret = ${from.secret} and previous_secret is not distinct from ${from.previous}`,
  );
}

/** Those that sign, by the id of the key that has encrypted them. */
export async function countSecretsByKey(db: Queryable) {
  return await many<{ readonly keyId: string; readonly count: number }>(
    db,
    sql`select split_part(text, '.', 1) as "keyId", count(*)::integer as count
        from webhook
             cross join lateral (
               values (secret), (case when previous_until > clock_timestamp() then previous_secret end)
             ) as stored (text)
        where deleted_at is null and text is not null
        group by 1`,
  );
}
