import { execute, matchesRow, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** False when the command was applied before. A concurrent call with the same id waits for the commit of the first one. */
export async function insertMasterUpdate(tx: Transaction, commandId: string, at: Date): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`insert into master_update (command_id, applied_at) values (${commandId}, ${at}) on conflict do nothing`,
  );
}

/** Deletes the oldest first; returns the number of deleted rows. */
export async function deleteMasterUpdates(db: Queryable, before: Date, limit: number): Promise<number> {
  return await execute(
    db,
    sql`delete from master_update
        where command_id in (select command_id from master_update
                             where applied_at < ${before}
                             order by applied_at
                             limit ${limit})`,
  );
}
