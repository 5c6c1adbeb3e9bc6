import { column, execute, one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Masters with flows to strike that are not stopped, gated, delayed after a failed try, or behind with a week. */
export async function listPoolsToStrike(
  db: Queryable,
  due: { readonly cutOff: Date; readonly now: Date; readonly limit: number },
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select pool.login
        from (
               select master_login from holding where waiting_minor > 0
               union
               select master_login from holding where unredeemed_minor > 0
             ) as due
             join master_pool as pool on pool.login = due.master_login
        where pool.stopped_reason is null and pool.gate_key is null and pool.mark_next_at <= ${due.now}
          and (pool.weeks_closed_through is null or pool.weeks_closed_through >= ${due.cutOff})
        order by pool.mark_next_at, pool.login
        limit ${due.limit}`,
  );
}

/** Masters whose week has ended at or before a cut-off and is not closed. */
export async function listWeeksToClose(
  db: Queryable,
  due: { readonly cutOff: Date; readonly now: Date; readonly limit: number },
): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from master_pool
        where weeks_closed_through < ${due.cutOff} and stopped_reason is null and gate_key is null
          and mark_next_at <= ${due.now}
        order by weeks_closed_through, mark_next_at, login
        limit ${due.limit}`,
  );
}

export async function resetMarkTries(db: Queryable, login: string): Promise<void> {
  await execute(
    db,
    sql`update master_pool
        set mark_tries = 0, mark_next_at = '-infinity', mark_reason = null
        where login = ${login} and mark_tries > 0`,
  );
}

/** Counts a failed try to mark the Master. Returns the number of consecutive failures. */
export async function countFailedMark(db: Queryable, login: string, reason: string): Promise<number> {
  const { tries } = await one<{ tries: number }>(
    db,
    sql`update master_pool
        set mark_tries = mark_tries + 1, mark_reason = ${reason}
        where login = ${login}
        returning mark_tries as tries`,
  );
  return tries;
}

export async function postponeMark(db: Queryable, login: string, until: Date): Promise<void> {
  await execute(db, sql`update master_pool set mark_next_at = ${until} where login = ${login}`);
}
