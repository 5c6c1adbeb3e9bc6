import { findLastPosition } from "#kernel/postgres/last-position.ts";
import { many, matchesRow, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { LogEntry } from "../domain/log-entry.ts";
import { ENTRY_COLUMNS, entryOf, type LogRow } from "./log.ts";

/**
 * Number of the last entry that was logged before an instant; -1 without one. A log has no gaps and is written in the order of its numbers,
 * so few of its entries are looked at, the same ones however long the log has become since.
 */
export async function findLastBefore(db: Queryable, login: string, instant: Date): Promise<bigint> {
  const { last } = await one<{ last: bigint }>(
    db,
    sql`select coalesce(max(number), -1)::bigint as last from log_entry where login = ${login}`,
  );
  return await findLastPosition({ none: -1n, last }, (number) => isLoggedBefore(db, login, number, instant));
}

async function isLoggedBefore(db: Queryable, login: string, number: bigint, instant: Date): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select number from log_entry where login = ${login} and number = ${number} and logged_at < ${instant}`,
  );
}

/** Sum of the entries up to and with a log position, in cents. */
export async function findBalanceAt(db: Queryable, login: string, number: bigint): Promise<bigint> {
  const { balance } = await one<{ balance: bigint }>(
    db,
    sql`with checkpoint as (
          select number, balance_minor
          from log_checkpoint
          where login = ${login} and number <= ${number}
          order by number desc
          limit 1
        )
        select (coalesce((select balance_minor from checkpoint), 0) + coalesce(sum(amount_minor), 0))::bigint as balance
        from log_entry
        where login = ${login} and number > coalesce((select number from checkpoint), -1) and number <= ${number}`,
  );
  return balance;
}

export type LoggedEntry = {
  readonly entry: LogEntry;
  readonly loggedAt: Date;
  /** Of the request; empty without one. */
  readonly comment: string;
  /** Empty unless the movement was imported. */
  readonly importedOperationId: string;
};

export type LogRange = {
  readonly login: string;
  readonly after: bigint;
  readonly through: bigint;
  readonly limit: number;
};

/** Entries of a log between two positions, ascending. */
export async function listLogged(db: Queryable, { login, after, through, limit }: LogRange): Promise<LoggedEntry[]> {
  const rows = await many<LogRow & Omit<LoggedEntry, "entry">>(
    db,
    sql`select ${ENTRY_COLUMNS}, logged_at as "loggedAt", coalesce(lost.comment, transfer.comment, '') as comment,
               coalesce(lost.operation_id, '') as "importedOperationId"
        from log_entry
        join account on account.login = log_entry.login
        left join transfer on transfer.id = log_entry.transfer_id
        left join lost_movement as lost on lost.server = log_entry.server and lost.deal_id = log_entry.deal_id
        where log_entry.login = ${login} and number > ${after} and number <= ${through}
        order by number
        limit ${limit}`,
  );
  return rows.map(({ comment, importedOperationId, loggedAt, ...row }) => {
    return { entry: entryOf(row), loggedAt, comment, importedOperationId };
  });
}
