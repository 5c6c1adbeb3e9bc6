import { execute, type Fragment, fragment, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
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
        where login = ${login} and starts_with(stopped_reason, ${OTHER_ACCOUNT} || ':')`,
  );
}

function currencyBreakOf(login: string | Fragment): Fragment {
  return fragment`reconciliation_break
    where check_name = 'account_currency' and reconciliation_break.login = ${login} and opened_at is not null and closed_at is null`;
}

/** Condition on an account: its amounts are not dollars and cents. */
export function isOtherCurrency(login: string | Fragment): Fragment {
  return fragment`exists (select from ${currencyBreakOf(login)})`;
}

/** The message of the break of such an account. */
export async function findCurrencyBreak(db: Queryable, login: string): Promise<string | undefined> {
  const found = await maybeOne<{ message: string }>(db, sql`select message from ${currencyBreakOf(login)} limit 1`);
  return found?.message;
}
