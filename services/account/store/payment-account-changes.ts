import { execute, fragment, many, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";

export type PaymentAccountChange = {
  readonly id: bigint;
  readonly masterLogin: string;
  readonly from: string;
  readonly to: string;
  /** Claims by the recovery job: 0 for the command that has recorded the change. */
  readonly tries: number;
};

const COLUMNS = fragment`
  id, (select login from master where master.id = master_id) as "masterLogin", from_login as "from", to_login as "to"`;

export type NewChange = Pick<PaymentAccountChange, "from" | "to"> & {
  readonly masterId: bigint;
  readonly commandId: string;
  readonly at: Date;
  /** When the recovery job may continue it: after the caller's deadline. */
  readonly recoverInMs: number;
};

/** Undefined while another change of the Master, or to the same login, is open. */
export async function insertChange(tx: Transaction, fresh: NewChange): Promise<PaymentAccountChange | undefined> {
  return await maybeOne<PaymentAccountChange>(
    tx,
    sql`insert into payment_account_change (command_id, master_id, from_login, to_login, requested_at, next_try_at)
        values (nullif(${fresh.commandId}, ''), ${fresh.masterId}, ${fresh.from}, ${fresh.to}, ${fresh.at},
                clock_timestamp() + ${fresh.recoverInMs} * interval '1 millisecond')
        on conflict do nothing
        returning ${COLUMNS}, tries`,
  );
}

/** The change of the Master that the command has recorded, or another one that is open. */
export async function findChange(
  db: Queryable,
  masterId: bigint,
  commandId: string,
): Promise<{ readonly isOwn: boolean; readonly isDone: boolean } | undefined> {
  return await maybeOne(
    db,
    sql`select command_id is not distinct from ${commandId} as "isOwn", done_at is not null as "isDone"
        from payment_account_change
        where master_id = ${masterId} and (done_at is null or command_id = ${commandId})
        order by "isOwn" desc
        limit 1`,
  );
}

/** Whether the login is, was or is becoming the payment account of another Master. */
export async function isOfOther(db: Queryable, masterId: bigint, login: string): Promise<boolean> {
  return await matchesRow(
    db,
    sql`select id from master where payment_login = ${login} and id <> ${masterId}
        union all
        select master_id from payment_account_change
        where (from_login = ${login} or to_login = ${login}) and master_id <> ${masterId}`,
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
        where to_login = any (${logins}::text[]) and done_at is null`,
  );
  const { inUse = [], becoming = [] } = Object.groupBy(rows, ({ isInUse }) => (isInUse ? "inUse" : "becoming"));
  return { inUse: inUse.map(({ login }) => login), becoming: becoming.map(({ login }) => login) };
}

/** Gives the login its role, which is never taken back. Fails on account_pkey while another request registers it. */
export async function reserveLogin(tx: Transaction, login: string): Promise<void> {
  await execute(
    tx,
    sql`insert into account (login, kind)
        select ${login}::text, 'PAYMENT'
        where not exists (select from account where login = ${login} and kind = 'PAYMENT')`,
  );
}

/** fee pays to the new account: so does the Master. No effect when another attempt has done so. */
export async function endChange(db: Queryable, { id }: PaymentAccountChange, at: Date): Promise<void> {
  await execute(
    db,
    sql`with done as (
          update payment_account_change
          set done_at = ${at}, reason = null
          where id = ${id} and done_at is null
          returning master_id, to_login
        )
        update master set payment_login = to_login from done where master.id = master_id`,
  );
}

/** Of a change without effect. False when a later attempt was begun, or the change is done. */
export async function removeChange(db: Queryable, { id, tries }: PaymentAccountChange): Promise<boolean> {
  return await matchesRow(
    db,
    sql`delete from payment_account_change where id = ${id} and tries = ${tries} and done_at is null`,
  );
}

/** Longer than an attempt, so that two replicas never work on one change at once. */
const CLAIM_MS = 30_000;

/** Changes that have not ended. */
export const changeQueue = workQueue<PaymentAccountChange>({
  table: fragment`payment_account_change`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.done_at is null`,
  columns: COLUMNS,
  claimMs: CLAIM_MS,
});
