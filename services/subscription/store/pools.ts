import { execute, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** Inserts the row of a Master's pool if there is none. */
export async function ensurePool(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`insert into master_pool (login)
        select ${login}::text
        where not exists (select from master_pool where login = ${login})
        on conflict do nothing`,
  );
}
