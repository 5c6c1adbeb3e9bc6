import { execute, maybeOne, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** The Master that a break names, or in whose pool the money of its account is. Undefined when no pool is concerned. */
export async function findConcernedMaster(
  tx: Transaction,
  { account, master }: { readonly account: string; readonly master: string },
): Promise<string | undefined> {
  const row = await maybeOne<{ login: string }>(
    tx,
    sql`select login from master_pool where login = ${master}
        union
        select seat.master_login
        from investor_account join seat on subscription_id = pooled_subscription_id
        where investor_account.login = ${account} and ${master} = ''`,
  );
  return row?.login;
}

/** False when a Master was stopped for it before. */
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
