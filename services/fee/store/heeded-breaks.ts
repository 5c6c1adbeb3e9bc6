import { execute, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** False when the Master was stopped for it before. */
export async function insertHeededBreak(
  tx: Transaction,
  { service, id, login }: { readonly service: string; readonly id: bigint; readonly login: string },
): Promise<boolean> {
  const inserted = await execute(
    tx,
    sql`insert into handled_break (service, break_id, master_login)
        values (${service}, ${id}, ${login})
        on conflict do nothing`,
  );
  return inserted === 1;
}
