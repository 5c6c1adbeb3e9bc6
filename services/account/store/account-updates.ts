import { matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** False when the command was applied before. A concurrent call with the same id waits for the commit of the first one. */
export async function insertAccountUpdate(tx: Transaction, commandId: string, at: Date): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`insert into account_update (command_id, applied_at) values (${commandId}, ${at}) on conflict do nothing`,
  );
}

/** Whether the command was applied. */
export async function hasAccountUpdate(db: Queryable, commandId: string): Promise<boolean> {
  return await matchesRow(db, sql`select command_id from account_update where command_id = ${commandId}`);
}
