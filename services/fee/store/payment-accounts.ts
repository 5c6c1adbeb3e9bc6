import { execute, many, matchesRow, one, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";

/** The log position up to which a payment account was scanned; undefined before the first scan. */
export type SeenAccount = { readonly login: string; readonly seenNumber: bigint | undefined };

/** Payment accounts of the known Masters, former ones included, ascending by login. */
export async function listPaymentAccountsFrom(db: Queryable, after: string, limit: number): Promise<SeenAccount[]> {
  const rows = await many<SeenAccount>(
    db,
    sql`select login, seen_number as "seenNumber" from payment_account where login > ${after} order by login limit ${limit}`,
  );
  return rows.map(withoutNulls);
}

/** False when another process has moved the position. */
export async function moveSeenNumber(
  db: Queryable,
  { login, from, to }: { readonly login: string; readonly from: bigint | undefined; readonly to: bigint },
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update payment_account set seen_number = ${to} where login = ${login} and seen_number is not distinct from ${from}`,
  );
}

/**
 * Of a Master: payments that are not settled, and runs that are still being decided. Without payments that platform has not recorded, because the payment
 * account is archived. The Master must be locked.
 */
export async function countFeesInProgress(
  tx: Transaction,
  masterLogin: string,
): Promise<{ readonly payments: bigint; readonly runs: bigint }> {
  return await one(
    tx,
    sql`select (select count(*) from fee_payment
                where status in ('PENDING', 'EXECUTING') and master_login = ${masterLogin}
                  and (transfer_id is not null or reason is distinct from ${ACCOUNT_ARCHIVED})) as payments,
               (select count(*) from fee_run
                where master_login = ${masterLogin} and kind = 'WEEKLY' and not is_decided) as runs`,
  );
}

/**
 * Payments that are inserted from now on are paid to the new account, and those that wait for the old one, which is archived. Each keeps the key of its transfer,
 * so none is paid to both. The Master must be locked.
 */
export async function setPaymentAccount(tx: Transaction, masterLogin: string, to: string): Promise<void> {
  await execute(tx, sql`update fee_master set payment_account_login = ${to} where master_login = ${masterLogin}`);
  await execute(
    tx,
    sql`update fee_payment
        set payment_account_login = ${to}, next_try_at = clock_timestamp()
        where master_login = ${masterLogin} and status in ('PENDING', 'EXECUTING') and transfer_id is null
          and reason = ${ACCOUNT_ARCHIVED}`,
  );
  await execute(
    tx,
    sql`insert into payment_account (login, master_login) values (${to}, ${masterLogin}) on conflict (login) do nothing`,
  );
}
