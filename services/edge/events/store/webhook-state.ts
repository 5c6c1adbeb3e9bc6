import { one, type Queryable, sql } from "#kernel/postgres/query.ts";
import { IS_SERVED } from "./webhooks.ts";

export type WebhookState = {
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
