import { one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** Rows of these tables that the work has read. The server counts for a connection, also what earlier transactions have read. */
export async function rowsRead(tx: Transaction, tables: readonly string[], work: () => Promise<void>): Promise<number> {
  const before = await countRead(tx, tables);
  await work();
  return (await countRead(tx, tables)) - before;
}

async function countRead(tx: Transaction, tables: readonly string[]): Promise<number> {
  const { rows } = await one<{ rows: bigint }>(
    tx,
    sql`select sum(seq_tup_read + idx_tup_fetch)::bigint as rows
        from pg_stat_xact_user_tables
        where relname = any (${tables}::text[])`,
  );
  return Number(rows);
}
