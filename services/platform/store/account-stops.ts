import { execute, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

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
