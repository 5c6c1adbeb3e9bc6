import assert from "node:assert/strict";
import {
  execute,
  fragment,
  many,
  matchesRow,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
  one,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";

export type FeeMaster = {
  readonly masterLogin: string;
  readonly paymentAccountLogin: string;
  /** Why none of its fees is decided or sent. */
  readonly breakReason: string | undefined;
};

const COLUMNS = fragment`master_login as "masterLogin", payment_account_login as "paymentAccountLogin", break_reason as "breakReason"`;

export async function findMaster(db: Queryable, login: string): Promise<FeeMaster | undefined> {
  const row = await maybeOne<FeeMaster>(db, sql`select ${COLUMNS} from fee_master where master_login = ${login}`);
  return row && withoutNulls(row);
}

/** Does nothing when another process has inserted the Master. */
export async function insertMaster(db: Queryable, login: string, paymentAccountLogin: string): Promise<void> {
  await execute(
    db,
    sql`with fresh as (
          insert into fee_master (master_login, payment_account_login)
          values (${login}, ${paymentAccountLogin})
          on conflict (master_login) do nothing
          returning payment_account_login, master_login
        )
        insert into payment_account (login, master_login)
        select * from fresh
        on conflict (login) do nothing`,
  );
}

/** Locks one Master, so that what is recorded of its fees has a sequence. */
export async function lockMaster(tx: Transaction, login: string): Promise<FeeMaster> {
  const master = (await lockMasters(tx, [login])).get(login);
  assert(master !== undefined, "a Master with fees is known");
  return master;
}

/** Locks some Masters until commit, in the sequence in which all transactions lock them. Unknown ones are left out. */
export async function lockMasters(tx: Transaction, logins: readonly string[]): Promise<ReadonlyMap<string, FeeMaster>> {
  const rows = await many<FeeMaster>(
    tx,
    sql`select ${COLUMNS}
        from fee_master
        where master_login = any(${[...new Set(logins)]}::text[])
        order by master_login
        for no key update`,
  );
  return new Map(rows.map((row) => [row.masterLogin, withoutNulls(row)]));
}

/** False when the Master is stopped already, or unknown. */
export async function stopForBreak(tx: Transaction, login: string, reason: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update fee_master
        set break_reason = ${reason}
        where master_login = ${login} and break_reason is null`,
  );
}

export async function resumeAfterBreak(tx: Transaction, login: string): Promise<void> {
  await execute(tx, sql`update fee_master set break_reason = null where master_login = ${login}`);
}

/** The Masters whose fees go to one of the accounts, or went to it before. */
export async function listMastersOfAccounts(
  db: Queryable,
  accounts: readonly string[],
): Promise<{ readonly account: string; readonly login: string }[]> {
  return await many(
    db,
    sql`select login as account, master_login as login
        from payment_account
        where login = any(${accounts}::text[])
        order by master_login, login`,
  );
}

/** Whether a review, open or decided, shows one of these deals. */
export async function hasCaseAbout(tx: Transaction, subject: string, dealIds: readonly bigint[]): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`select id
        from review_case
        where subject = ${subject} and evidence -> 'deal_ids' ?| ${dealIds.map(String)}::text[]
        limit 1`,
  );
}

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
