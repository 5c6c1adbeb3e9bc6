import { execute, type Fragment, fragment, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { QueueState } from "#kernel/queue-until-flat.ts";
import { recordedAs, type Refusal, type RefusalFacts } from "#kernel/refusal.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";

/** An unassign that may wait until its Master is flat. */
export type QueuedUnassign = {
  readonly commandId: string;
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly state: QueueState | "ENDED";
  /** Null: its Master is being closed. */
  readonly expiresAt: Date | null;
  readonly refusal: RefusalFacts | null;
  readonly tries: number;
};

/** Of rows that are named `queued`, with their subscriptions. */
export const QUEUED_COLUMNS = fragment`
  queued.command_id as "commandId", subscription_id as "subscriptionId", master_login as "masterLogin",
  investor_login as "investorLogin", state, expires_at as "expiresAt", queued.refusal, tries`;
const QUEUED = fragment`
  select ${QUEUED_COLUMNS} from queued_unassign as queued join subscription on subscription.id = subscription_id`;

export async function findQueued(db: Queryable, commandId: string): Promise<QueuedUnassign | undefined> {
  return await maybeOne<QueuedUnassign>(db, sql`${QUEUED} where queued.command_id = ${commandId}`);
}

/** The one of a subscription that has not ended, and that a caller has sent. */
export async function findOpenQueued(db: Queryable, subscriptionId: bigint): Promise<QueuedUnassign | undefined> {
  return await maybeOne<QueuedUnassign>(
    db,
    sql`${QUEUED} where subscription_id = ${subscriptionId} and state <> 'ENDED' and expires_at is not null`,
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

/** WAITING -> ENDED, by a caller that cancels it. False when it does not wait, or its Master is being closed. */
export async function markCancelled(db: Queryable, commandId: string, end: End): Promise<boolean> {
  return await matchesRow(
    db,
    endOf(fragment`command_id = ${commandId} and state = 'WAITING' and expires_at is not null`, end),
  );
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

/** The operation ends with it. */
function endOf(which: Fragment, { refusal, at }: End) {
  return sql`with ended as (
               update queued_unassign
               set state = 'ENDED', ended_at = ${at},
                   refusal = ${refusal && recordedAs(refusal)}::jsonb
               where ${which}
               returning command_id, ended_at, refusal
             )
             update unassignment
             set ended_at = ended.ended_at, refusal = ended.refusal
             from ended
             where unassignment.command_id = ended.command_id`;
}
