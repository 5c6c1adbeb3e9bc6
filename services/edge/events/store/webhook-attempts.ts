import { execute, type Fragment, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import { EVENT, type NewEvent, type StoredEvent } from "./events.ts";
import type { DeliveryStatus } from "./webhook-deliveries.ts";
import { IS_SERVED, SCOPES_OF_CLIENT, type StoredSecrets } from "./webhooks.ts";

export type ClaimedDelivery = StoredSecrets & {
  readonly id: bigint;
  readonly webhookId: bigint;
  readonly clientId: string;
  readonly url: string;
  /** This one included. */
  readonly attempts: number;
  readonly failures: number;
  /** Of the keys of the client. */
  readonly scopes: readonly string[];
  /** Undefined when the event was removed. */
  readonly event: StoredEvent | undefined;
};

/**
 * Claims deliveries that are due: of each account of an endpoint the oldest one that is not finished, so that a later one waits for it. Another
 * replica takes over what a process has claimed and not finished in time. Of one endpoint at most `perWebhook`, those in progress included; of
 * one that fails a single one.
 */
export async function claimDeliveries(
  db: Queryable,
  { claimMs, perWebhook, limit }: Readonly<Record<"claimMs" | "perWebhook" | "limit", number>>,
): Promise<ClaimedDelivery[]> {
  type Row = Omit<ClaimedDelivery, "event"> & { eventId: bigint | null } & {
    [Name in keyof NewEvent]: NewEvent[Name] | null;
  };
  const rows = await many<Row>(
    db,
    sql`with served as materialized (
          select webhook.id, failures, case when failures = 0 then ${perWebhook}::integer else 1 end as most
          from webhook
          where ${IS_SERVED} and greatest(paused_until, asked_until) <= clock_timestamp()
        ), head as (
          select distinct on (webhook_id, login) webhook_id, most, delivery.id, next_try_at, claimed_until > clock_timestamp() as is_claimed
          from served join webhook_delivery as delivery on webhook_id = served.id and status = 'pending'
          order by webhook_id, login, delivery.id
        ), ranked as (
          select id, is_claimed, next_try_at <= clock_timestamp() as is_due, next_try_at,
                 most - count(*) filter (where is_claimed) over (partition by webhook_id) as free,
                 row_number() over (partition by webhook_id, is_claimed or next_try_at > clock_timestamp() order by next_try_at, id) as rank
          from head
        ), due as (
          select id from ranked where is_due and not is_claimed and rank <= free order by rank, next_try_at, id limit ${limit}
        ), claimed as (
          update webhook_delivery as delivery
          set claimed_until = clock_timestamp() + ${claimMs} * interval '1 millisecond', attempts = attempts + 1,
              first_try_at = coalesce(first_try_at, clock_timestamp())
          from due
          where delivery.id = due.id and status = 'pending' and claimed_until <= clock_timestamp()
          returning delivery.id, webhook_id, event_id, attempts
        )
        select claimed.id, claimed.webhook_id as "webhookId", attempts, client_id as "clientId", url, secret, failures, ${SCOPES_OF_CLIENT} as scopes,
               case when previous_until > clock_timestamp() then previous_secret end as previous,
               event.id as "eventId", ${EVENT}
        from claimed
             join webhook on webhook.id = claimed.webhook_id
             left join event on event.id = event_id
        order by claimed.id`,
  );
  return rows.map((row) => {
    const { id, webhookId, attempts, clientId, url, secret, failures, scopes, previous, eventId, ...facts } = row;
    const event = eventId === null ? undefined : ({ id: eventId, ...facts } as StoredEvent);
    return { id, webhookId, attempts, clientId, url, secret, failures, scopes, previous, event };
  });
}

/** The endpoint is well again; what waits for it is due at once when it was paused. */
export async function markDelivered(
  db: Queryable,
  { id, webhookId }: ClaimedDelivery,
  status: number,
  pausedFrom: number,
): Promise<void> {
  await execute(
    db,
    sql`with delivered as (
          update webhook_delivery
          set status = 'delivered', finished_at = clock_timestamp(), claimed_until = '-infinity', last_status = ${status}, last_error = ''
          where id = ${id} and status = 'pending'
        ), due as (
          update webhook_delivery set next_try_at = clock_timestamp()
          where webhook_id = ${webhookId} and status = 'pending' and id <> ${id} and next_try_at > clock_timestamp()
            and exists (select from webhook where webhook.id = ${webhookId} and failures >= ${pausedFrom})
        )
        update webhook set failures = 0, failing_since = null, paused_until = '-infinity', last_error = ''
        where id = ${webhookId} and last_error <> '' and disabled_at is null and asked_until <= clock_timestamp()`,
  );
}

type Answered = { readonly status: number | undefined; readonly error: string };

/**
 * Of an attempt that has delivered nothing. Of an endpoint that was disabled or has another address since, an answer says nothing. What was
 * claimed by another process since then is left to it.
 */
async function recordAnswer(
  db: Queryable,
  { id, webhookId, attempts, url }: ClaimedDelivery,
  { status, error }: Answered,
  changes: { readonly endpoint: Fragment; readonly delivery: Fragment },
): Promise<DeliveryStatus | undefined> {
  const row = await maybeOne<{ status: DeliveryStatus }>(
    db,
    sql`with endpoint as (
          update webhook set last_error = ${error}, ${changes.endpoint}
          where id = ${webhookId} and url = ${url} and disabled_at is null
        )
        update webhook_delivery
        set claimed_until = '-infinity', last_status = ${status}, last_error = ${error}, ${changes.delivery}
        where id = ${id} and status = 'pending' and attempts = ${attempts}
        returning status`,
  );
  return row?.status;
}

const laterBy = (ms: number) => fragment`clock_timestamp() + ${ms} * interval '1 millisecond'`;

export type FailedAttempt = Answered & Readonly<Record<"retryMs" | "pauseMs" | "giveUpAfterMs", number>>;

/** Returns whether the delivery was given up. */
export async function markFailed(db: Queryable, claimed: ClaimedDelivery, failed: FailedAttempt): Promise<boolean> {
  const { retryMs, pauseMs, giveUpAfterMs } = failed;
  const oldest = laterBy(-giveUpAfterMs);
  const status = await recordAnswer(db, claimed, failed, {
    endpoint: fragment`
      failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp()), paused_until = ${laterBy(pauseMs)},
      disabled_at = case when failing_since < ${oldest} then clock_timestamp() end`,
    delivery: fragment`
      next_try_at = ${laterBy(retryMs)}, status = case when first_try_at < ${oldest} then 'failed' else status end,
      finished_at = case when first_try_at < ${oldest} then clock_timestamp() end`,
  });
  return status === "failed";
}

/**
 * The endpoint has asked to be sent nothing for a while: no event is sent to it until then, and the time counts neither towards the end of the
 * delivery nor of the endpoint.
 */
export async function markDeferred(
  db: Queryable,
  claimed: ClaimedDelivery,
  deferred: Answered & { readonly waitMs: number },
): Promise<void> {
  const wait = fragment`${deferred.waitMs} * interval '1 millisecond'`;
  await recordAnswer(db, claimed, deferred, {
    endpoint: fragment`
      asked_until = greatest(asked_until, clock_timestamp() + ${wait}),
      failing_since = failing_since + greatest(interval '0', clock_timestamp() + ${wait} - greatest(asked_until, clock_timestamp()))`,
    delivery: fragment`next_try_at = clock_timestamp(), first_try_at = first_try_at + ${wait}`,
  });
}

/** The endpoint wants no event any more. What it has not got waits, in case its client enables it again. */
export async function markGone(db: Queryable, claimed: ClaimedDelivery, answered: Answered): Promise<void> {
  await recordAnswer(db, claimed, answered, {
    endpoint: fragment`disabled_at = clock_timestamp()`,
    delivery: fragment`next_try_at = clock_timestamp()`,
  });
}

/** Not an attempt: the process stops before the answer. */
export async function releaseDelivery(db: Queryable, { id, attempts }: ClaimedDelivery): Promise<void> {
  await execute(
    db,
    sql`update webhook_delivery set claimed_until = '-infinity' where id = ${id} and status = 'pending' and attempts = ${attempts}`,
  );
}

/** Nothing is left to send, or nothing that its client may read. */
export async function giveUp(db: Queryable, { id }: ClaimedDelivery, reason: string): Promise<void> {
  await execute(
    db,
    sql`update webhook_delivery set status = 'failed', finished_at = clock_timestamp(), claimed_until = '-infinity', last_error = ${reason}
        where id = ${id} and status = 'pending'`,
  );
}
