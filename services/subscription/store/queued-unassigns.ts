import {
  column,
  execute,
  type Fragment,
  fragment,
  many,
  matchesRow,
  maybeOne,
  one,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import { recordedAs, type Refusal, type RefusalFacts } from "#kernel/refusal.ts";
import { CLAIM_MS } from "#kernel/retry.ts";
import { longestSince, type QueueAges } from "#kernel/work-queue/queue-ages.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import type { QueueState } from "../domain/queue.ts";

/** An unassign that may wait until its Master is flat. */
export type QueuedUnassign = {
  readonly commandId: string;
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly state: QueueState;
  readonly expiresAt: Date;
  readonly refusal: RefusalFacts | null;
  readonly tries: number;
};

/** Of rows that are named `queued`, with their subscriptions. */
const COLUMNS = fragment`
  queued.command_id as "commandId", subscription_id as "subscriptionId", master_login as "masterLogin",
  investor_login as "investorLogin", state, expires_at as "expiresAt", queued.refusal, tries`;
const QUEUED = fragment`
  select ${COLUMNS} from queued_unassign as queued join subscription on subscription.id = subscription_id`;

export async function findQueued(db: Queryable, commandId: string): Promise<QueuedUnassign | undefined> {
  return await maybeOne<QueuedUnassign>(db, sql`${QUEUED} where queued.command_id = ${commandId}`);
}

/** The one of a subscription that has not ended. */
export async function findOpenQueued(db: Queryable, subscriptionId: bigint): Promise<QueuedUnassign | undefined> {
  return await maybeOne<QueuedUnassign>(
    db,
    sql`${QUEUED} where subscription_id = ${subscriptionId} and state <> 'ENDED'`,
  );
}

export type NewQueued = {
  readonly commandId: string;
  readonly subscriptionId: bigint;
  readonly queueForMs: bigint;
  readonly at: Date;
  readonly deadlineAt: Date;
  /** When the process of the first try is gone. */
  readonly recoverInMs: number;
};

/** Recorded before the first try, with its operation. False when the command is recorded, or another one of the subscription waits. */
export async function insertQueued(db: Queryable, queued: NewQueued): Promise<boolean> {
  const { commandId, subscriptionId, queueForMs, at, deadlineAt, recoverInMs } = queued;
  const inMs = (ms: number | bigint) => fragment`clock_timestamp() + ${ms} * interval '1 millisecond'`;
  return await matchesRow(
    db,
    sql`with recorded as (
          insert into queued_unassign (command_id, subscription_id, state, expires_at, next_try_at)
          values (${commandId}, ${subscriptionId}, 'WANTED', ${inMs(queueForMs)}, ${inMs(recoverInMs)})
          on conflict do nothing
          returning command_id
        ), operation as (
          insert into unassignment (command_id, subscription_id, master_login, requested_at, deadline_at)
          select recorded.command_id, subscription.id, master_login, ${at}::timestamptz, ${deadlineAt}::timestamptz
          from recorded join subscription on subscription.id = ${subscriptionId}
          on conflict do nothing
        )
        select from recorded`,
  );
}

const NEXT_TRY = retryAt(fragment`tries`);

/** A try was refused, and the unassign waits for the next one. False when another process has moved it on. */
export async function markWaiting(db: Queryable, commandId: string, reason: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update queued_unassign
        set state = 'WAITING', has_waited = true, reason = ${reason}, next_try_at = ${NEXT_TRY}
        where command_id = ${commandId} and state in ('WANTED', 'RUNNING')`,
  );
}

/** A try has failed without an outcome: the recovery job continues it. */
export async function tryAgainLater(db: Queryable, commandId: string, reason: string): Promise<void> {
  await execute(
    db,
    sql`update queued_unassign set reason = ${reason}, next_try_at = ${NEXT_TRY}
        where command_id = ${commandId} and state in ('WANTED', 'RUNNING')`,
  );
}

type End = { readonly refusal: Refusal | undefined; readonly at: Date };

/** A try has ended it: executed, or refused for good. */
export async function markEnded(db: Queryable, commandId: string, end: End): Promise<void> {
  await execute(db, endOf(fragment`command_id = ${commandId} and state in ('WANTED', 'RUNNING')`, end));
}

/** WAITING -> ENDED, by a caller that cancels it. False when it does not wait. */
export async function markCancelled(db: Queryable, commandId: string, end: End): Promise<boolean> {
  return await matchesRow(db, endOf(fragment`command_id = ${commandId} and state = 'WAITING'`, end));
}

/** WAITING -> ENDED for those whose time is over. */
export async function expireQueued(
  db: Queryable,
  { limit, ...end }: End & { readonly limit: number },
): Promise<number> {
  return await execute(
    db,
    endOf(
      fragment`state = 'WAITING' and expires_at <= clock_timestamp() and command_id in (
        select command_id from queued_unassign
        where state = 'WAITING' and expires_at <= clock_timestamp()
        limit ${limit}
      )`,
      end,
    ),
  );
}

function endOf(which: Fragment, { refusal, at }: End) {
  return sql`update queued_unassign
             set state = 'ENDED', ended_at = ${at},
                 refusal = ${refusal && recordedAs(refusal)}::jsonb
             where ${which}`;
}

/** Flat by the books: no open position, and no deal that is still to be allocated. A Master without a pool is. */
export async function listFlat(db: Queryable, masterLogins: readonly string[]): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login from unnest(${masterLogins}::text[]) as wanted (login) where ${IS_LOGIN_FLAT}`,
  );
}

function isFlat(login: Fragment): Fragment {
  return fragment`
    not exists (select from pool_position where master_login = ${login})
    and not exists (select from master_result where master_login = ${login} and allocated_at is null)`;
}

const IS_LOGIN_FLAT = isFlat(fragment`login`);
const IS_AWAITED_FLAT = isFlat(fragment`awaited.master_login`);

/** Notes which unassigns could run now. The pauses after refusals begin anew when a Master was not flat in between. */
export async function markReady(db: Queryable): Promise<void> {
  await execute(
    db,
    sql`with waiting as materialized (
          select queued_unassign.command_id, master_login, status, ready_at
          from queued_unassign join subscription on subscription.id = subscription_id
          where state = 'WAITING'
          for no key update of queued_unassign skip locked
        ), flat as materialized (
          select master_login as login
          from (select distinct master_login from waiting) as awaited
          where ${IS_AWAITED_FLAT}
        )
        update queued_unassign as queued
        set ready_at = case when is_ready then clock_timestamp() end,
            tries = case when is_ready then tries else 0 end,
            next_try_at = case when is_ready then next_try_at else clock_timestamp() end
        from (
          select command_id, ready_at, status <> 'ACTIVE' or master_login in (select login from flat) as is_ready from waiting
        ) as seen
        where queued.command_id = seen.command_id and is_ready <> (seen.ready_at is not null) and state = 'WAITING'`,
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
        select ${COLUMNS} from queued join subscription on subscription.id = subscription_id`,
  );
}

const MAY_START = fragment`state <> 'ENDED' and next_try_at <= clock_timestamp()
  and (state <> 'WAITING' or (ready_at is not null and expires_at > clock_timestamp()))`;

/** When to look: now as long as one waits, and when the process of a try is gone. */
export const NEXT_LOOK = fragment`(
  select case when bool_or(state = 'WAITING') then clock_timestamp() else min(next_try_at) end
  from queued_unassign
  where state <> 'ENDED'
)`;

const SECONDS_SINCE_REQUEST = longestSince(fragment`requested_at`);
const SECONDS_READY = longestSince(fragment`ready_at`);

export async function readQueue(db: Queryable): Promise<QueueAges> {
  return await one<QueueAges>(
    db,
    sql`select count(*)::int as waiting, ${SECONDS_SINCE_REQUEST} as "oldestSeconds",
               ${SECONDS_READY} as "overdueSeconds"
        from queued_unassign join unassignment using (command_id)
        where state in ('WAITING', 'RUNNING')`,
  );
}
