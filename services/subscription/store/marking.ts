import { column, execute, type Fragment, fragment, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";

import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** Masters with flows to strike that are not stopped, or behind with a week. */
function strikable(cutOff: Date): Fragment {
  return fragment`from (
       select master_login from holding where waiting_minor > 0
       union
       select master_login from holding where unredeemed_minor > 0
       union
       select login from master_pool where own_waiting_minor > 0 or own_unredeemed_minor > 0
     ) as due
     join master_pool as pool on pool.login = due.master_login
  where pool.stopped_reason is null and ${ARE_BOOKS_WHOLE}
    and (pool.weeks_closed_through is null or pool.weeks_closed_through >= ${cutOff})`;
}

/** Without those that are delayed after a failed try or for a price. */
export async function listPoolsToStrike(
  db: Queryable,
  { cutOff, limit }: { readonly cutOff: Date; readonly limit: number },
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select pool.login
        ${strikable(cutOff)} and pool.mark_next_at <= statement_timestamp() and pool.price_next_at <= statement_timestamp()
        order by pool.mark_next_at, pool.login
        limit ${limit}`,
  );
}

/** Expression: when the next Master with flows to strike may be marked. */
export function nextStrike(cutOff: Date): Fragment {
  return fragment`(select min(greatest(pool.mark_next_at, pool.price_next_at)) ${strikable(cutOff)})`;
}

/** For a strike the positions of the pool need prices. */
export async function hasFlowsToStrike(db: Queryable, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select from master_pool
        where login = ${login} and (
          own_waiting_minor > 0 or own_unredeemed_minor > 0
          or exists (select from holding where master_login = login and (waiting_minor > 0 or unredeemed_minor > 0))
        )`,
  );
}

/** Masters whose week has ended at or before a cut-off and is not closed. */
export async function listWeeksToClose(
  db: Queryable,
  { cutOff, limit }: { readonly cutOff: Date; readonly limit: number },
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from master_pool
        where weeks_closed_through < ${cutOff} and stopped_reason is null and ${ARE_BOOKS_WHOLE}
          and mark_next_at <= statement_timestamp()
        order by weeks_closed_through, mark_next_at, login
        limit ${limit}`,
  );
}

/** Expression: when the next week may be closed: one that has ended by the cut-off, or the one that may close at `nextAt`. */
export function nextWeekToClose(cutOff: Date, nextAt: Date): Fragment {
  return fragment`(
    select min(case when weeks_closed_through < ${cutOff} then mark_next_at else ${nextAt}::timestamptz end)
    from master_pool
    where weeks_closed_through is not null and stopped_reason is null and ${ARE_BOOKS_WHOLE}
  )`;
}

/** A claim: when another replica, or the next run, may try it again. */
const CLAIM_MS = 60_000;

/** Masters with open positions whose pools are to be valued. Claimed, so that replicas do not read the same ones, and a failed try pauses. */
export async function claimPoolsToValue(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`update master_pool
        set value_next_at = statement_timestamp() + ${CLAIM_MS} * interval '1 millisecond'
        where login = any ((
          select array_agg(due.login)
          from (
            select login from master_pool
            where value_next_at <= statement_timestamp() and stopped_reason is null and ${ARE_BOOKS_WHOLE}
            order by value_next_at, login
            limit ${limit}
            for no key update skip locked
          ) as due
        )::text[])
        returning login`,
  );
}

/** When the pool is valued next; undefined: not while no position is open. The caller has locked the Master. */
export async function scheduleValuation(tx: Transaction, login: string, inMs: number | undefined): Promise<void> {
  await execute(
    tx,
    sql`update master_pool
        set value_next_at = statement_timestamp() + ${inMs}::bigint * interval '1 millisecond'
        where login = ${login}`,
  );
}

/** Expression: when the next pool is to be valued. */
export const NEXT_VALUATION = fragment`(
  select min(value_next_at)
  from master_pool
  where value_next_at is not null and stopped_reason is null and ${ARE_BOOKS_WHOLE}
)`;

export async function resetMarkTries(db: Queryable, login: string): Promise<void> {
  await execute(
    db,
    sql`update master_pool
        set mark_tries = 0, mark_next_at = '-infinity', mark_reason = null
        where login = ${login} and mark_tries > 0`,
  );
}

/** Longest pause after a failed try, because money waits for its units and an ended week for its closing. */
const MAX_PAUSE_MS = 1_000;
const AFTER_FAILURE = retryAt(fragment`mark_tries + 1`, MAX_PAUSE_MS);

/** Counts a failed try to mark the Master: the next one follows after a pause. */
export async function countFailedMark(db: Queryable, login: string, reason: string): Promise<void> {
  await execute(
    db,
    sql`update master_pool
        set mark_tries = mark_tries + 1, mark_reason = ${reason}, mark_next_at = ${AFTER_FAILURE}
        where login = ${login}`,
  );
}
