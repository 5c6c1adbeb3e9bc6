import { execute, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { fenceUndecided } from "./accounts.ts";
import { HERE, PERMITTED_HERE } from "./database-identity.ts";

/**
 * Notes that the platform's history was read since before any commit that this database may lack, except that of accounts that are fenced. In another
 * database it opens nothing.
 */
export async function openPermitGate(tx: Transaction, database: string): Promise<void> {
  await fenceUndecided(tx);
  await execute(
    tx,
    sql`insert into permit_gate (database) values (${database})
        on conflict (is_only) do update set database = excluded.database`,
  );
}

/** The database in which the history was read last, also while permits are stopped for what was found in it. */
export async function findReadDatabase(db: Queryable): Promise<string | undefined> {
  const found = await maybeOne<{ database: string | null }>(db, sql`select database from permit_gate`);
  return found?.database ?? undefined;
}

/** Whether the history was read in this database, also while permits are stopped for what was found in it. */
export async function isHistoryRead(db: Queryable): Promise<boolean> {
  return await matchesRow(db, sql`select from permit_gate where database = ${HERE}`);
}

/** Whether permits are granted in the database of the connection: a process may not know yet that another one has taken its place. */
export async function arePermitsGranted(db: Queryable): Promise<boolean> {
  return await matchesRow(db, sql`select where ${PERMITTED_HERE} is not null`);
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

/** What decides about permits, of one instant. */
export type GateFacts = {
  /** As of findStop. */
  readonly stoppedAt: Date | undefined;
  /** As of isHistoryRead. */
  readonly isHistoryRead: boolean;
  /** Whether permits have been stopped for a quiet period. */
  readonly wasQuiet: boolean;
};

export async function findGateFacts(db: Queryable, quietPeriodMs: number): Promise<GateFacts> {
  const row = await maybeOne<{ stoppedAt: Date | null; isHistoryRead: boolean | null; wasQuiet: boolean | null }>(
    db,
    sql`select stopped_at as "stoppedAt", database = ${HERE} as "isHistoryRead",
               stopped_at <= clock_timestamp() - ${quietPeriodMs} * interval '1 millisecond' as "wasQuiet"
        from permit_gate`,
  );
  return {
    stoppedAt: row?.stoppedAt ?? undefined,
    isHistoryRead: row?.isHistoryRead ?? false,
    wasQuiet: row?.wasQuiet ?? false,
  };
}

export type Resumed = "resumed" | "history_not_read" | "stopped_too_short";

/**
 * While the history is being read, more deals that the database does not know may be found. Until permits have been stopped for a quiet period, the platform
 * may still execute a command that the database has lost, after its history was read. Accounts whose deals are not all in the log stay without permits.
 */
export async function resumePermits(tx: Transaction, quietPeriodMs: number): Promise<Resumed> {
  if (!(await isHistoryRead(tx))) return "history_not_read";
  await fenceUndecided(tx);
  const resumed = await execute(
    tx,
    sql`update permit_gate
        set stopped_at = null
        where stopped_at is null or stopped_at <= clock_timestamp() - ${quietPeriodMs} * interval '1 millisecond'`,
  );
  return resumed === 1 ? "resumed" : "stopped_too_short";
}
