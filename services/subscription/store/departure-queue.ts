import {
  execute,
  fragment,
  type Fragment,
  many,
  matchesRow,
  one,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { CLAIM_MS } from "#kernel/jobs/retry.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import type { DepartureKind } from "../domain/decide-departure.ts";
import { type Departure, DEPARTURE_COLUMNS, NEXT_TRY } from "./departures.ts";
import { IS_FLAT } from "./masters.ts";

const AFTER_TRIES = retryAt(fragment`tries`);

/** WANTED -> WAITING: the try was refused, and its account lock is released. False when another process has moved it on. */
export async function markWaiting(
  db: Queryable,
  { operationId, try: number }: Pick<Departure, "operationId" | "try">,
  reason: string,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update departure
        set state = 'WAITING', has_waited = true, reason = ${reason}, next_try_at = ${AFTER_TRIES}
        where operation_id = ${operationId} and try = ${number} and state = 'WANTED'`,
  );
}

/** Withdrawals of an Investor that wait, under a lock that two of them take one after the other. */
export async function countWaitingOf(tx: Transaction, investorLogin: string): Promise<number> {
  await execute(tx, sql`select from investor_account where login = ${investorLogin} for no key update`);
  const { count } = await one<{ readonly count: number }>(
    tx,
    sql`select count(*)::int as count
        from departure
        where investor_login = ${investorLogin} and state = 'WAITING' and kind = 'WITHDRAWAL'`,
  );
  return count;
}

/**
 * Notes which departures could run now: whose Masters are flat, or whose Investors have left the pool. The pauses after refusals begin anew when a Master was not
 * flat in between. It locks those that change only: each look comes by all that wait. Arrays, because a join of those that change is a nested loop over all
 * when few have waited while the planner's statistics were made.
 */
export async function markReady(db: Queryable): Promise<void> {
  await execute(
    db,
    sql`with waiting as materialized (
          select operation_id, holding.master_login, ready_at is not null as was_ready
          from departure
               left join investor_account on login = departure.investor_login
               left join holding on holding.subscription_id = pooled_subscription_id
                 and (kind = 'WITHDRAWAL' or departure.subscription_id = pooled_subscription_id)
          where state = 'WAITING'
        ), flat as materialized (
          select login
          from (select distinct master_login as login from waiting where master_login is not null) as wanted
          where ${IS_FLAT}
        ), changed as materialized (
          select operation_id, was_ready
          from waiting
          where was_ready <> (master_login is null or master_login in (select login from flat))
        )
        update departure
        set ready_at = case when ready_at is null then clock_timestamp() end,
            tries = case when ready_at is null then tries else 0 end,
            next_try_at = case when ready_at is null then next_try_at else clock_timestamp() end
        where state = 'WAITING' and operation_id = any(array(
          select operation_id
          from departure
          where state = 'WAITING'
            and (ready_at is null and operation_id = any(array(select operation_id from changed where not was_ready))
                 or ready_at is not null and operation_id = any(array(select operation_id from changed where was_ready)))
          for no key update skip locked
        ))`,
  );
}

/** WAITING -> WANTED with the next try: from here neither its caller nor its expiry ends it. The longest due first. */
export async function startTries(tx: Transaction, limit: number): Promise<Departure[]> {
  return await many<Departure>(
    tx,
    sql`update departure
        set ${NEXT_TRY}, next_try_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
        where operation_id = any(array(
          select operation_id
          from departure
          where state = 'WAITING' and lock_owner is null and next_try_at <= clock_timestamp() and ready_at is not null
            and (is_closing or queue_until > clock_timestamp())
          order by next_try_at, operation_id
          limit ${limit}
          for no key update skip locked
        ))
        returning ${DEPARTURE_COLUMNS}, tries`,
  );
}

type Ended = { readonly refusal: string; readonly at: Date };

/** WAITING -> REFUSED, by a caller that cancels it. None when it does not wait, or its Master is being closed. */
export async function markCancelled(db: Queryable, operationId: string, ended: Ended): Promise<Departure[]> {
  return await endWaiting(db, ended, fragment`operation_id = ${operationId} and queue_until is not null`);
}

/** WAITING -> REFUSED for those whose time is over. */
export async function markExpired(db: Queryable, limit: number, ended: Ended): Promise<Departure[]> {
  return await endWaiting(
    db,
    ended,
    fragment`queue_until <= clock_timestamp() and operation_id in (
          select operation_id from departure where state = 'WAITING' and queue_until <= clock_timestamp()
          order by operation_id
          limit ${limit}
          for no key update skip locked
        )`,
  );
}

async function endWaiting(db: Queryable, { refusal, at }: Ended, which: Fragment): Promise<Departure[]> {
  return await many<Departure>(
    db,
    sql`update departure
        set state = 'REFUSED', refusal = ${refusal}::jsonb, ended_at = ${at}
        where state = 'WAITING' and ${which}
        returning ${DEPARTURE_COLUMNS}, tries`,
  );
}

/** When to look: now as long as one waits or a Master is being closed. */
export const NEXT_LOOK = fragment`(
  select clock_timestamp()
  where exists (select from master_pool where closing_at is not null and closed_at is null)
     or exists (select from departure where state = 'WAITING')
)`;

/** Of the commands of one kind that wait until a Master is flat, or are being tried because it is. */
type QueueAges = {
  readonly waiting: number;
  /** Age of the oldest one that is open. */
  readonly oldestSeconds: number;
  /** How long the Master of an open one has been flat. */
  readonly overdueSeconds: number;
};

export async function readQueue(db: Queryable, kind: DepartureKind): Promise<QueueAges> {
  return await one<QueueAges>(
    db,
    sql`select count(*)::int as waiting, ${longestSince(fragment`requested_at`)} as "oldestSeconds",
               ${longestSince(fragment`ready_at`)} as "overdueSeconds"
        from departure
        where kind = ${kind} and queue_until is not null
          and (state = 'WAITING' or has_waited and lock_owner is not null and state <> 'REFUSED')`,
  );
}

/** Seconds since the earliest of these instants; 0 without one. */
function longestSince(instant: Fragment): Fragment {
  return fragment`greatest(extract(epoch from clock_timestamp() - coalesce(min(${instant}), clock_timestamp())), 0)::float8`;
}
