import { column, execute, fragment, many, matchesRow, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { recordedAs, type Refusal } from "#kernel/refusal.ts";
import { CLAIM_MS } from "#kernel/retry.ts";
import { type QueueAges, readQueueAges } from "#kernel/work-queue/queue-ages.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import type { CashflowState } from "../domain/cashflow.ts";
import { lockTry } from "./withdrawals.ts";

/** It waits until its Master is flat. Exactly one of a try, its caller and its expiry takes it out of this state. */
const IS_WAITING = fragment`queue_state in ('WAITING', 'RUNNING') and finished_at is null and queue_state = 'WAITING'`;

export type WaitingTry = {
  readonly id: bigint;
  readonly login: string;
  /** As it was seen. */
  readonly try: number;
  readonly from: CashflowState;
  readonly reason: string;
  /** Undefined for one that has waited before. */
  readonly max: number | undefined;
};

/**
 * The try has ended without an effect, its account lock is released, and the operation waits; the next try has another lock owner. "full": so many of
 * the Investor wait already. "moved": another process has moved the saga on.
 */
export async function markWaiting(tx: Transaction, waiting: WaitingTry): Promise<"waiting" | "full" | "moved"> {
  const { id, login, from, reason, max } = waiting;
  if (!(await lockTry(tx, id, waiting.try))) return "moved";
  if (max !== undefined && (await countWaiting(tx, login)) >= max) return "full";
  const isMoved = await matchesRow(
    tx,
    sql`update cashflow
        set state = 'RECORDED', queue_state = 'WAITING', deadline = queue_until, next_try_at = queue_until, reason = ${reason},
            queue_look_at = ${retryAt(fragment`tries`)}
        where id = ${id} and state = ${from} and queue_state in ('WANTED', 'RUNNING')`,
  );
  if (!isMoved) return "moved";
  await execute(
    tx,
    sql`update withdrawal set try = try + 1, held_balance_minor = null, held_log_number = null where cashflow_id = ${id}`,
  );
  return "waiting";
}

/** Under a lock that two operations of the Investor take one after the other, so that the limit holds. */
async function countWaiting(tx: Transaction, login: string): Promise<bigint> {
  await execute(tx, sql`select from known_investor where login = ${login} for no key update`);
  const { count } = await one<{ count: bigint }>(
    tx,
    sql`select count(*) from cashflow where login = ${login} and ${IS_WAITING}`,
  );
  return count;
}

/** An operation waits for the Master that its Investor follows now. Null for an Investor that has left its pool. */
const AWAITED = fragment`cashflow left join known_investor on known_investor.login = cashflow.login`;

/** The Masters for which operations wait, at most `limit` after one. */
export async function listAwaitedMasters(db: Queryable, after: string, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select distinct master_login
        from (select known_investor.master_login from ${AWAITED} where ${IS_WAITING}) as awaited
        where master_login > ${after}
        order by master_login
        limit ${limit}`,
  );
}

/** Notes which operations could run now. The pauses after refusals begin anew when a Master was not flat in between. */
export async function markReady(db: Queryable, flatMasters: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`update cashflow
        set queue_ready_at = case when queue_ready_at is null then clock_timestamp() end,
            tries = case when queue_ready_at is null then tries else 0 end,
            queue_look_at = case when queue_ready_at is null then queue_look_at else clock_timestamp() end
        where id = any ((
            select array_agg(changed.id)
            from (
              select id
              from ${AWAITED}
              where ${IS_WAITING} and (queue_ready_at is not null) <> (
                known_investor.master_login is null or known_investor.master_login = any(${flatMasters}::text[])
              )
              for no key update of cashflow skip locked
            ) as changed
          )::bigint[]) and ${IS_WAITING}`,
  );
}

export type StartedTry = { readonly id: bigint; readonly tries: number };

/** WAITING -> RUNNING: from here neither its caller nor its expiry ends it. The longest ready first. */
export async function startTries(db: Queryable, limit: number): Promise<StartedTry[]> {
  return await many<StartedTry>(
    db,
    sql`update cashflow
        set queue_state = 'RUNNING', tries = tries + 1,
            next_try_at = clock_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
        where id = any ((
            select array_agg(due.id)
            from (
              select id
              from cashflow
              where ${IS_WAITING} and queue_ready_at is not null and queue_look_at <= clock_timestamp()
                and queue_until > clock_timestamp()
              order by queue_look_at, id
              limit ${limit}
              for no key update skip locked
            ) as due
          )::bigint[]) and ${IS_WAITING}
        returning id, tries`,
  );
}

/** WAITING -> the end, by a caller that cancels it. False when it does not wait. */
export async function markCancelled(db: Queryable, operationId: string, end: { refusal: Refusal; at: Date }) {
  return await matchesRow(db, endOf(fragment`operation_id = ${operationId}`, end));
}

/** WAITING -> the end, when its time is over. False when it does not wait. */
export async function markExpired(db: Queryable, id: bigint, end: { refusal: Refusal; at: Date }): Promise<boolean> {
  return await matchesRow(db, endOf(fragment`id = ${id} and queue_until <= clock_timestamp()`, end));
}

function endOf(which: ReturnType<typeof fragment>, { refusal, at }: { refusal: Refusal; at: Date }) {
  return sql`update cashflow
             set state = 'REFUSED', refusal = ${recordedAs(refusal)}::jsonb, finished_at = ${at}
             where ${which} and ${IS_WAITING}`;
}

/** When to look whether a Master is flat: now, as long as an operation waits. */
export const NEXT_LOOK = fragment`(select clock_timestamp() from cashflow where ${IS_WAITING} limit 1)`;

export async function readQueue(db: Queryable): Promise<QueueAges> {
  const open = fragment`
    select created_at, queue_ready_at from cashflow where queue_state in ('WAITING', 'RUNNING') and finished_at is null`;
  return await readQueueAges(db, open);
}
