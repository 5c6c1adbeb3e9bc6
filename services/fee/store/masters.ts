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
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

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
    sql`select payment_account_login as account, master_login as login
        from fee_master
        where payment_account_login = any(${accounts}::text[])
        union
        select login, master_login from payment_account where login = any(${accounts}::text[])
        order by login`,
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
