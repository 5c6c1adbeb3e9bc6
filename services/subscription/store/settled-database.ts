import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { execute, fragment, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/**
 * Condition: the books have each result that the platform has posted. Otherwise, after a restore or a failover, every Master reads as stopped:
 * results would be divided again that are posted already.
 */
export const ARE_BOOKS_WHOLE = fragment`exists (
  select from settled_database where database = (select database_identity())
)`;

/** Expression: an instant in the past while they may lack some. */
export const NEXT_SETTLEMENT = fragment`(select '-infinity'::timestamptz where not ${ARE_BOOKS_WHOLE})`;

/** The database to settle; undefined when its books are whole. */
export async function findUnsettledDatabase(db: Queryable): Promise<string | undefined> {
  return (await matchesRow(db, sql`select where ${ARE_BOOKS_WHOLE}`)) ? undefined : await readDatabase(db);
}

/** Also when there is no row yet. */
export async function lockSettlement(tx: Transaction): Promise<void> {
  await execute(
    tx,
    sql`insert into settled_database (database) values (null)
        on conflict (is_only) do update set is_only = excluded.is_only`,
  );
}

/**
 * Undefined: from this commit on every Master reads as stopped. Its row is locked first when the books are found to be whole, so that none of what
 * makes them lack is missed.
 */
export async function markSettled(tx: Transaction, database: string | undefined): Promise<void> {
  await execute(
    tx,
    sql`insert into settled_database (database) values (${database})
        on conflict (is_only) do update set database = excluded.database`,
  );
}
