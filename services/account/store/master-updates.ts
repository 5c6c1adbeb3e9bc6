import { matchesRow, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** False when the command was applied before. A concurrent call with the same id waits for the commit of the first one. */
export async function insertMasterUpdate(tx: Transaction, commandId: string, at: Date): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`insert into master_update (command_id, applied_at) values (${commandId}, ${at}) on conflict do nothing`,
  );
}
