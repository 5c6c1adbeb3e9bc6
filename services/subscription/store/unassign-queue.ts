import { execute, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { CLAIM_MS } from "#kernel/retry.ts";
import { type QueueAges, readQueueAges } from "#kernel/work-queue/queue-ages.ts";
import { HAS_CLOSING } from "./closings.ts";
import { IS_FLAT } from "./flat-masters.ts";
import { QUEUED_COLUMNS, type QueuedUnassign } from "./queued-unassigns.ts";

/**
 * Notes which unassigns could run now. The pauses after refusals begin anew when a Master was not flat in between. It locks those that change only: each look
 * comes by all that wait.
 */
export async function markReady(db: Queryable): Promise<void> {
  await execute(
    db,
    sql`with waiting as materialized (
          select queued_unassign.command_id, master_login, status
          from queued_unassign join subscription on subscription.id = subscription_id
          where state = 'WAITING'
        ), flat as materialized (
          select login from (select distinct master_login as login from waiting) as wanted where ${IS_FLAT}
        )
        update queued_unassign as queued
        set ready_at = case when is_ready then clock_timestamp() end,
            tries = case when is_ready then tries else 0 end,
            next_try_at = case when is_ready then next_try_at else clock_timestamp() end
        from (
          select changed.command_id, looked.is_ready
          from (
            select command_id, status <> 'ACTIVE' or master_login in (select login from flat) as is_ready from waiting
          ) as looked
          join queued_unassign as changed using (command_id)
          where changed.state = 'WAITING' and looked.is_ready <> (changed.ready_at is not null)
          for no key update of changed skip locked
        ) as seen
        where queued.command_id = seen.command_id and state = 'WAITING'`,
  );
}

/** WAITING -> RUNNING, from where neither its caller nor its expiry ends it; and those whose process is gone. The longest due first. */
export async function claimQueued(db: Queryable, limit: number): Promise<QueuedUnassign[]> {
  return await many<QueuedUnassign>(
    db,
    sql`with queued as (
          update queued_unassign
          set state = case state when 'WAITING' then 'RUNNING' else state end, tries = tries + 1,
              next_try_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
          where command_id = any ((
              select array_agg(due.command_id)
              from (
                select command_id from queued_unassign where ${MAY_START}
                order by next_try_at, command_id
                limit ${limit}
                for no key update skip locked
              ) as due
            )::text[]) and ${MAY_START}
          returning *
        )
        select ${QUEUED_COLUMNS} from queued join subscription on subscription.id = subscription_id`,
  );
}

const MAY_START = fragment`state <> 'ENDED' and next_try_at <= clock_timestamp()
  and (state <> 'WAITING' or (ready_at is not null and coalesce(expires_at > clock_timestamp(), true)))`;

/** When to look: now as long as one waits or a Master is being closed, and when the process of a try is gone. */
export const NEXT_LOOK = fragment`(
  select case when bool_or(state = 'WAITING') or ${HAS_CLOSING} then clock_timestamp() else min(next_try_at) end
  from queued_unassign
  where state <> 'ENDED'
)`;

export async function readQueue(db: Queryable): Promise<QueueAges> {
  const open = fragment`
    select requested_at, ready_at from queued_unassign join unassignment using (command_id)
    where state in ('WAITING', 'RUNNING') and expires_at is not null`;
  return await readQueueAges(db, open);
}
