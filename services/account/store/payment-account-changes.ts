import { column, fragment, many, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { RefusalFacts } from "#kernel/refusal.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";

export type PaymentAccountChange = {
  readonly id: bigint;
  readonly masterId: bigint;
  readonly from: string;
  readonly to: string;
  readonly state: "PENDING" | "ASKED" | "DONE" | "REFUSED";
  readonly refusal: RefusalFacts | null;
};

const CHANGES = fragment`
  select id, master_id as "masterId", from_login as "from", to_login as "to", state, refusal
  from payment_account_change`;

export type NewChange = Pick<PaymentAccountChange, "masterId" | "from" | "to"> & {
  readonly commandId: string;
  readonly at: Date;
  /** When the recovery job may continue it: after the caller's deadline. */
  readonly recoverInMs: number;
};

/** Undefined while another change of the Master, or to the same login, is open. */
export async function insertChange(db: Queryable, fresh: NewChange): Promise<PaymentAccountChange | undefined> {
  const row = await maybeOne<{ id: bigint }>(
    db,
    sql`insert into payment_account_change (command_id, master_id, from_login, to_login, state, requested_at, next_try_at)
        values (${fresh.commandId}, ${fresh.masterId}, ${fresh.from}, ${fresh.to}, 'PENDING', ${fresh.at},
                clock_timestamp() + ${fresh.recoverInMs} * interval '1 millisecond')
        on conflict do nothing
        returning id`,
  );
  return row && (await findChange(db, row.id));
}

export async function findChange(db: Queryable, id: bigint): Promise<PaymentAccountChange | undefined> {
  return await maybeOne<PaymentAccountChange>(
    db,
    sql`${CHANGES}
        where id = ${id}`,
  );
}

/** The change that a command has begun and that was not refused. */
export async function findChangeOfCommand(db: Queryable, commandId: string): Promise<PaymentAccountChange | undefined> {
  return await maybeOne<PaymentAccountChange>(
    db,
    sql`${CHANGES}
        where command_id = ${commandId} and command_id <> '' and state <> 'REFUSED'`,
  );
}

/** Ids of the Masters whose payment account the login is, was or is becoming. */
export async function listOwners(db: Queryable, login: string): Promise<bigint[]> {
  return await column<bigint>(
    db,
    sql`select id from master where payment_login = ${login}
        union
        select master_id from payment_account_change where from_login = ${login} and state = 'DONE'
        union
        select master_id from payment_account_change where to_login = ${login} and state in ('PENDING', 'ASKED', 'DONE')`,
  );
}

/** Those of the logins that are payment accounts of Masters now, and those that are becoming that. */
export async function listPaymentAccounts(
  db: Queryable,
  logins: readonly string[],
): Promise<{ readonly inUse: string[]; readonly becoming: string[] }> {
  const rows = await many<{ login: string; isInUse: boolean }>(
    db,
    sql`select payment_login as login, true as "isInUse" from master where payment_login = any (${logins}::text[])
        union all
        select to_login, false
        from payment_account_change
        where to_login = any (${logins}::text[]) and state in ('PENDING', 'ASKED')`,
  );
  const { inUse = [], becoming = [] } = Object.groupBy(rows, ({ isInUse }) => (isInUse ? "inUse" : "becoming"));
  return { inUse: inUse.map(({ login }) => login), becoming: becoming.map(({ login }) => login) };
}

/** Gives the login its role, which is never taken back. Fails on account_pkey while another request registers it. */
export async function reserveLogin(tx: Transaction, login: string): Promise<void> {
  await matchesRow(
    tx,
    sql`insert into account (login, kind)
        select ${login}::text, 'PAYMENT'
        where not exists (select from account where login = ${login} and kind = 'PAYMENT')`,
  );
}

/** Recorded before fee is asked. False when another process has done so, or the change has ended. */
export async function markAsked(db: Queryable, id: bigint): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update payment_account_change set state = 'ASKED' where id = ${id} and state = 'PENDING'`,
  );
}

/** fee pays to the new account: true also when another process, which has waited longer, has recorded a refusal. */
export async function markDone(tx: Transaction, id: bigint, at: Date): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update payment_account_change
        set state = 'DONE', ended_at = ${at}, refusal = null, reason = null
        where id = ${id} and state <> 'DONE'`,
  );
}

export async function setPaymentLogin(tx: Transaction, masterId: bigint, login: string): Promise<void> {
  await matchesRow(tx, sql`update master set payment_login = ${login} where id = ${masterId}`);
}

/** False when the change is in another state meanwhile. */
export async function markRefused(
  db: Queryable,
  { id, state }: Pick<PaymentAccountChange, "id" | "state">,
  refusal: string,
  at: Date,
): Promise<boolean> {
  return await matchesRow(
    db,
    sql`update payment_account_change
        set state = 'REFUSED', refusal = ${refusal}::jsonb, ended_at = ${at}
        where id = ${id} and state = ${state}`,
  );
}

/** Longer than an attempt, so that two replicas never work on one change at once. */
const CLAIM_MS = 30_000;

/** Changes that have not ended. */
export const changeQueue = workQueue<{ readonly id: bigint; readonly tries: number }>({
  table: fragment`payment_account_change`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state in ('PENDING', 'ASKED')`,
  columns: fragment`id`,
  claimMs: CLAIM_MS,
});
