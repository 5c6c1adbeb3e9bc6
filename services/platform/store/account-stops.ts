import { execute, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { OTHER_ACCOUNT } from "../domain/review-actions.ts";

/** From the commit on no permit is granted for transfers of the account. The reason of an account that is stopped already stays. */
export async function stopAccount(tx: Transaction, login: string, reason: string): Promise<void> {
  await execute(
    tx,
    sql`update account set stopped_reason = ${reason} where login = ${login} and stopped_reason is null`,
  );
}

export async function resumeAccount(tx: Transaction, login: string): Promise<void> {
  await execute(tx, sql`update account set stopped_reason = null where login = ${login}`);
}

/** Of an account that was stopped because another one had its login. */
export async function resumeReplaced(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`update account
        set stopped_reason = null
        where login = ${login} and starts_with(stopped_reason, ${`${OTHER_ACCOUNT}:`})`,
  );
}

/** The message of the break of an account whose amounts are not dollars and cents. */
export async function findCurrencyBreak(db: Queryable, login: string): Promise<string | undefined> {
  const found = await maybeOne<{ message: string }>(
    db,
    sql`select message
        from reconciliation_break
        where check_name = 'account_currency' and login = ${login} and opened_at is not null and closed_at is null
        limit 1`,
  );
  return found?.message;
}
