import { execute, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { HERE } from "./database-identity.ts";

/** Notes that the platform's history was read since before any commit that this database may lack. */
export async function openPermitGate(db: Queryable): Promise<void> {
  await execute(
    db,
    sql`insert into permit_gate (database) values (${HERE})
        on conflict (is_only) do update set database = excluded.database`,
  );
}

/** The database in which the history was read last, also while permits are stopped for what was found in it, and this one. */
export async function findReadDatabase(
  db: Queryable,
): Promise<{ readonly last: string | undefined; readonly here: string }> {
  const { last, here } = await one<{ last: string | null; here: string }>(
    db,
    sql`select (select database from permit_gate) as last, database_identity() as here`,
  );
  return { last: last ?? undefined, here };
}

/** No permit is granted from the commit on, until operators resume. */
export async function stopPermits(tx: Transaction): Promise<void> {
  await execute(
    tx,
    sql`insert into permit_gate (stopped_at) values (clock_timestamp())
        on conflict (is_only) do update set stopped_at = coalesce(permit_gate.stopped_at, excluded.stopped_at)`,
  );
}

/** Since when operators have to decide; undefined while nothing is stopped. */
export async function findStop(db: Queryable): Promise<Date | undefined> {
  const row = await maybeOne<{ at: Date | null }>(db, sql`select stopped_at as at from permit_gate`);
  return row?.at ?? undefined;
}

export type Resumed = "resumed" | "history_not_read" | "stopped_too_short";

/**
 * While the history is being read, more deals that the database does not know may be found. Until permits have been stopped for a quiet period, the platform
 * may still execute a command that the database has lost, after its history was read.
 */
export async function resumePermits(tx: Transaction, quietPeriodMs: number): Promise<Resumed> {
  if (!(await matchesRow(tx, sql`select from permit_gate where database = ${HERE}`))) return "history_not_read";
  const resumed = await execute(
    tx,
    sql`update permit_gate
        set stopped_at = null
        where stopped_at is null or stopped_at <= clock_timestamp() - ${quietPeriodMs} * interval '1 millisecond'`,
  );
  return resumed === 1 ? "resumed" : "stopped_too_short";
}
