import { execute, maybeOne, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A pool is there from the first thing that is known of its Master. */
export async function ensurePool(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`insert into master_pool (login)
        select ${login}::text
        where not exists (select from master_pool where login = ${login})
        on conflict do nothing`,
  );
}

export async function findStoppedReason(db: Queryable, login: string): Promise<string | undefined> {
  const row = await maybeOne<{ reason: string | null }>(
    db,
    sql`select stopped_reason as reason from master_pool where login = ${login}`,
  );
  return row?.reason ?? undefined;
}
