import assert from "node:assert/strict";
import {
  column,
  execute,
  type Fragment,
  fragment,
  many,
  matchesRow,
  maybeOne,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { JournalPosition } from "../domain/journal.ts";

export type FeeMaster = {
  readonly masterLogin: string;
  readonly paymentAccountLogin: string;
  /** How far its allocations are in the journal. */
  readonly read: JournalPosition;
  /** Why its allocations are not read. */
  readonly stoppedReason: string | undefined;
  /** Why none of its fees is decided or sent. */
  readonly breakReason: string | undefined;
};

type MasterRow = Omit<FeeMaster, "read"> & { readonly readNumber: bigint; readonly readSubscriptionId: bigint };

const COLUMNS = fragment`"masterLogin", "paymentAccountLogin", "readNumber", "readSubscriptionId", "stoppedReason",
  "breakReason"`;

export async function findMaster(db: Queryable, login: string): Promise<FeeMaster | undefined> {
  const row = await maybeOne<MasterRow>(db, sql`select ${COLUMNS} from fee_master_row where "masterLogin" = ${login}`);
  return row && masterOf(row);
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

/** Locks one Master, before any pair, so that decisions about a Master are made one after the other. */
export async function lockMaster(tx: Transaction, login: string): Promise<FeeMaster> {
  const master = (await lockMasters(tx, [login])).get(login);
  assert(master !== undefined, "a Master is locked after its allocations were read");
  return master;
}

/** Some Masters, locked until commit. */
export type LockedMasters = ReadonlyMap<string, FeeMaster>;

/** Locks some Masters, in the sequence in which all transactions lock them. */
export async function lockMasters(tx: Transaction, logins: readonly string[]): Promise<LockedMasters> {
  return byLogin(await many<MasterRow>(tx, sql`${locking(logins)}`));
}

/** Those that no other transaction has locked. */
async function lockFreeMasters(tx: Transaction, logins: readonly string[]): Promise<LockedMasters> {
  return byLogin(await many<MasterRow>(tx, sql`${locking(logins)} skip locked`));
}

function locking(logins: readonly string[]): Fragment {
  return fragment`
    select ${COLUMNS}
    from fee_master_row
    where "masterLogin" = any(${[...new Set(logins)]}::text[])
    order by "masterLogin"
    for no key update`;
}

function byLogin(rows: readonly MasterRow[]): LockedMasters {
  return new Map(rows.map((row) => [row.masterLogin, masterOf(row)]));
}

type Debtors = {
  readonly investorLogins: readonly string[];
  /** What becomes of a debt to a Master that another transaction has locked: it is left, the transaction waits for it, or fails at once. */
  readonly whenBusy: "leave" | "wait" | "fail";
};

/**
 * Locks some Masters, and those that these Investors owe fees to. Their debts are read again under the locks of the first: one that arose
 * while the transaction waited counts.
 */
export async function lockWithOwed(
  tx: Transaction,
  logins: readonly string[],
  { investorLogins, whenBusy }: Debtors,
): Promise<LockedMasters> {
  const expected = whenBusy === "wait" ? await listOwed(tx, investorLogins) : [];
  const masters = await lockMasters(tx, [...logins, ...expected]);
  const owed = (await listOwed(tx, investorLogins)).filter((login) => !masters.has(login));
  if (owed.length === 0) return masters;
  const others = await (whenBusy === "wait" ? lockMasters : lockFreeMasters)(tx, owed);
  if (whenBusy === "fail" && others.size < owed.length) throw new Error("a Master that fees are owed to is locked");
  return new Map([...masters, ...others]);
}

async function listOwed(tx: Transaction, investorLogins: readonly string[]): Promise<string[]> {
  if (investorLogins.length === 0) return [];
  return await column<string>(
    tx,
    sql`select distinct master_login from fee_pair where investor_login = any(${investorLogins}::text[]) and debt_minor > 0`,
  );
}

/** The Master must be locked. */
export async function moveRead(tx: Transaction, login: string, read: JournalPosition): Promise<void> {
  await execute(
    tx,
    sql`update fee_master
        set read_number = ${read.number}, read_subscription_id = ${read.subscriptionId}
        where master_login = ${login}`,
  );
}

/** False when the Master is stopped already: the first reason is kept. */
export async function stopMaster(tx: Transaction, login: string, reason: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update fee_master
        set stopped_reason = ${reason}
        where master_login = ${login} and stopped_reason is null`,
  );
}

/** Resumes the Master; its allocations are read again at once. */
export async function resumeMaster(tx: Transaction, login: string): Promise<void> {
  await execute(tx, sql`update fee_master set stopped_reason = null where master_login = ${login}`);
  await readSoon(tx, login);
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
  await readSoon(tx, login);
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

function masterOf(row: MasterRow): FeeMaster {
  const { readNumber: number, readSubscriptionId: subscriptionId, ...master } = withoutNulls(row);
  return { ...master, read: { number, subscriptionId } };
}

async function readSoon(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`update allocation_watermark set next_try_at = clock_timestamp(), tries = 0 where master_login = ${login}`,
  );
}
