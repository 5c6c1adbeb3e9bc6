import { SECOND_MS } from "#kernel/duration.ts";
import { column, execute, fragment, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** How often platform is asked whether an account is shown again: an answer out of one of its tables. */
const PAUSE_MS = 15 * SECOND_MS;

/** Platform has refused a mirror, because the broker has archived the account of the Master: inflows stay on the accounts of their Investors. */
export async function noteArchived(tx: Transaction, masterLogin: string): Promise<void> {
  await askLater(tx, [masterLogin]);
}

/** Masters of which it is to be asked now, whether their accounts are shown again. */
export async function listArchivedToAsk(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login from master_pool where archived_next_at <= clock_timestamp() order by archived_next_at limit ${limit}`,
  );
}

export async function askLater(db: Queryable, masterLogins: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`update master_pool
        set archived_next_at = clock_timestamp() + ${PAUSE_MS} * interval '1 millisecond'
        where login = any(${masterLogins}::text[])`,
  );
}

/** The account is shown again: its inflows are mirrored. False when another replica has noted it. */
export async function noteReturned(db: Queryable, masterLogin: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update master_pool
        set archived_next_at = null
        where login = ${masterLogin} and archived_next_at is not null
        returning login`,
  );
}

/** Expression: when the next Master is due. */
export const NEXT_ARCHIVED = fragment`(select min(archived_next_at) from master_pool where archived_next_at is not null)`;
