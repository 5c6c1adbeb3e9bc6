import { execute, many, matchesRow, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** The log position up to which a payment account was scanned; undefined before the first scan. */
export type SeenAccount = { readonly login: string; readonly seenNumber: bigint | undefined };

/** Payment accounts of the known Masters, ascending by login. */
export async function listPaymentAccountsFrom(db: Queryable, after: string, limit: number): Promise<SeenAccount[]> {
  const rows = await many<SeenAccount>(
    db,
    sql`select distinct payment_account_login as login, seen_number as "seenNumber"
        from fee_master
             left join payment_account on login = payment_account_login
        where payment_account_login > ${after}
        order by payment_account_login
        limit ${limit}`,
  );
  return rows.map(withoutNulls);
}

/** Does nothing when another process has inserted the account. */
export async function insertSeenAccount(db: Queryable, login: string, seenNumber: bigint): Promise<void> {
  await execute(
    db,
    sql`insert into payment_account (login, seen_number)
        values (${login}, ${seenNumber})
        on conflict (login) do nothing`,
  );
}

/** False when another process has moved the position. */
export async function moveSeenNumber(
  tx: Transaction,
  { login, from, to }: { readonly login: string; readonly from: bigint; readonly to: bigint },
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update payment_account set seen_number = ${to} where login = ${login} and seen_number = ${from}`,
  );
}
