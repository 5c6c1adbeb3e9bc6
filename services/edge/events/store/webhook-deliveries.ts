import {
  execute,
  fragment,
  many,
  maybeOne,
  one,
  type Queryable,
  sql,
  unnest,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { readEvents } from "./events.ts";
import { IS_SERVED, SCOPES_OF_CLIENT } from "./webhooks.ts";

export type DeliveryStatus = "pending" | "delivered" | "failed";

/** A delivery as its client sees it. */
export type Delivery = {
  readonly id: bigint;
  readonly eventId: bigint;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextTryAt: Date;
  readonly lastStatus: number | undefined;
  readonly lastError: string;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
};

/** Newest first. */
export async function listDeliveries(
  db: Queryable,
  webhookId: bigint,
  page: { readonly beforeId: bigint; readonly status: DeliveryStatus | undefined; readonly limit: number },
): Promise<Delivery[]> {
  const { beforeId, status, limit } = page;
  const ofStatus = status === undefined ? fragment`` : fragment`and status = ${status}`;
  const rows = await many<Delivery>(
    db,
    sql`select id, event_id as "eventId", type, status, attempts, greatest(next_try_at, (select asked_until from webhook where webhook.id = webhook_id)) as "nextTryAt", last_status as "lastStatus",
               last_error as "lastError", created_at as "createdAt", finished_at as "finishedAt"
        from webhook_delivery
        where webhook_id = ${webhookId} ${ofStatus} and id < ${beforeId}
        order by id desc
        limit ${limit}`,
  );
  return rows.map(withoutNulls);
}

/** Endpoints that have not got all events, and fewer waiting deliveries than they may have. */
export async function listBehind(db: Queryable, mostPending: number, limit: number): Promise<bigint[]> {
  const rows = await many<{ id: bigint }>(
    db,
    sql`select id
        from webhook
        where ${IS_SERVED} and through_event < (select coalesce(max(event.id), 0) from event)
          and (
            select count(*)
            from (select from webhook_delivery where webhook_id = webhook.id and status = 'pending' limit ${mostPending}) as waiting
          ) < ${mostPending}
        order by id
        limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** Locks an endpoint for the making of its next deliveries; undefined when another replica makes them. */
export async function lockCursor(
  tx: Transaction,
  id: bigint,
): Promise<{ types: string; throughEvent: bigint; scopes: readonly string[] } | undefined> {
  return await maybeOne(
    tx,
    sql`select types, through_event as "throughEvent", ${SCOPES_OF_CLIENT} as scopes from webhook where id = ${id} and ${IS_SERVED} for no key update skip locked`,
  );
}

/** Makes the deliveries of a page of events and moves the cursor, in one transaction. False when older events were removed before they were read. */
export async function makeDeliveries(
  tx: Transaction,
  webhook: { readonly id: bigint; readonly throughEvent: bigint; readonly types: readonly string[] | undefined },
  limit: number,
): Promise<boolean> {
  const { id, throughEvent: after, types } = webhook;
  const { events, through, removedThrough } = await readEvents(tx, { after, types, limit });
  if (removedThrough > after && after > 0n) return false;
  await execute(
    tx,
    sql`insert into webhook_delivery (webhook_id, event_id, type, login)
        select ${id}, id, type, login
        from ${unnest(events)} with ordinality as next (id bigint, type text, login text, position)
        order by position`,
  );
  await execute(tx, sql`update webhook set through_event = ${through} where id = ${id}`);
  return true;
}

export async function disableWebhook(db: Queryable, id: bigint, reason: string): Promise<void> {
  await execute(
    db,
    sql`update webhook set disabled_at = clock_timestamp(), last_error = ${reason} where id = ${id} and disabled_at is null`,
  );
}

type WebhookState = {
  readonly enabled: number;
  readonly failing: number;
  /** Have asked to be sent nothing for a while. */
  readonly deferred: number;
  readonly paused: number;
  readonly disabled: number;
  /** Longest time for which an endpoint that is sent events has accepted none. */
  readonly failingSeconds: number;
  /** When an endpoint was disabled last, in seconds since 1970. */
  readonly disabledAt: number;
  /** Deliveries that wait for their next attempt. */
  readonly waiting: number;
  /** Age of the oldest event that an endpoint has not got which accepts others. */
  readonly oldestSeconds: number;
};

/** Of all clients, in one reading: about a thousand deliveries wait per endpoint at most, and further ones as events. */
export async function readWebhookState(db: Queryable): Promise<WebhookState> {
  return await one<WebhookState>(
    db,
    sql`with live as (
          select webhook.id, is_enabled, disabled_at, failing_since, ${IS_SERVED} as is_served, through_event, asked_until
          from webhook where deleted_at is null
        ), waiting as (
          select live.id, failing_since, count(delivery.id) as count,
                 greatest(
                   asked_until,
                   least(min(delivery.created_at), (select recorded_at from event where event.id > through_event order by event.id limit 1))
                 ) as since
          from live left join webhook_delivery as delivery on webhook_id = live.id and status = 'pending'
          where is_served
          group by live.id, failing_since, through_event, asked_until
        )
        select count(*) filter (where is_served and asked_until <= clock_timestamp() and failing_since is null)::integer as enabled,
               count(*) filter (where is_served and asked_until <= clock_timestamp() and failing_since is not null)::integer as failing,
               count(*) filter (where is_served and asked_until > clock_timestamp())::integer as deferred,
               count(*) filter (where not is_enabled)::integer as paused,
               count(*) filter (where is_enabled and disabled_at is not null)::integer as disabled,
               coalesce(greatest(extract(epoch from clock_timestamp() - min(failing_since) filter (where is_served)), 0), 0)::float8
                 as "failingSeconds",
               coalesce(extract(epoch from max(disabled_at) filter (where is_enabled)), 0)::float8 as "disabledAt",
               (select coalesce(sum(count), 0)::integer from waiting) as waiting,
               (select coalesce(greatest(extract(epoch from clock_timestamp() - min(since) filter (where failing_since is null)), 0), 0)::float8
                from waiting) as "oldestSeconds"
        from live`,
  );
}
