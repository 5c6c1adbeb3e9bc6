import assert from "node:assert/strict";
import { keyHash } from "#kernel/values/key-hash.ts";
import { column, execute, fragment, type Fragment, many, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";

/** A payment with everything that its collection needs: a row of fee_payment_row. */
export type DuePayment = {
  readonly id: bigint;
  /** Key of its transfer at platform. */
  readonly key: string;
  readonly kind: "PF" | "PF_DEBT";
  readonly masterLogin: string;
  readonly paymentAccountLogin: string;
  readonly investorLogin: string;
  /** Cents, without what imported fees had paid of it. */
  readonly due: bigint;
  readonly status: "PENDING" | "EXECUTING" | "EXECUTED" | "SKIPPED" | "DEFERRED" | "REVERSED";
  /** Of a weekly run, or left by its withdrawal or exit: the next one of the Investor collects it first. */
  readonly isWeekly: boolean;
  /** Of its debit, whether or not the credit is executed; null before. */
  readonly dealId: bigint | null;
  /** Nothing is sent for a stopped Master; a payment that may have been sent before is looked up. */
  readonly isStopped: boolean;
  readonly tries: number;
};

/** A withdrawal or exit collects its fees within this time as a rule; then the job does, or finds their debits. */
const COLLECTED_WITHIN_MS = 30_000;

export type NewPayment = {
  readonly runId: bigint;
  readonly isWeekly: boolean;
  readonly investorLogin: string;
  /** Key of its transfer at platform. */
  readonly key: string;
  readonly kind: string;
  readonly suffix: string;
  /** To whom it is owed. */
  readonly masterLogin: string;
  /** Cents, positive. */
  readonly amountMinor: bigint;
  readonly since: Date | undefined;
  /** Stored as JSON; undefined for a debt. */
  readonly explanation: object | undefined;
};

/** `isCollected`: imported fees had paid all of it, or one of them was sent under its key. */
export type InsertedPayment = { readonly id: bigint; readonly isCollected: boolean };

/**
 * Inserts payments to the payment accounts of their Masters, less what imported fees had paid to them. Returns them in the sequence
 * of the array, which is the sequence in which an Investor's payments are collected. The Masters must be locked. The explanations, one a
 * line, are one text: in an array each of their quotes would be escaped.
 */
export async function insertPayments(
  tx: Transaction,
  payments: readonly NewPayment[],
  at: Date,
): Promise<InsertedPayment[]> {
  const rows = await many<InsertedPayment>(
    tx,
    sql`with payment as (
          select payment.*, fee_master.payment_account_login, fee_configuration.investor_id,
                 least(due_minor, greatest(coalesce(fee_prepaid.prepaid_minor, 0) + due_minor - sum(due_minor) over (partition by payment.investor_login, payment.master_login order by rank), 0))::bigint as prepaid
          from unnest(
            ${payments.map(({ runId }) => runId)}::bigint[],
            ${payments.map(({ isWeekly }) => isWeekly)}::boolean[],
            ${payments.map(({ kind }) => kind)}::text[],
            ${payments.map(({ suffix }) => suffix)}::text[],
            ${payments.map(({ masterLogin }) => masterLogin)}::text[],
            ${payments.map(({ investorLogin }) => investorLogin)}::text[],
            ${payments.map(({ amountMinor }) => amountMinor)}::bigint[],
            ${payments.map(({ since }) => since)}::timestamptz[],
            ${payments.map(({ key }) => key)}::text[],
            ${payments.map(({ key }) => keyHash(key))}::text[],
            string_to_array(${payments.map(({ explanation }) => (explanation === undefined ? "" : JSON.stringify(explanation))).join("\n")}, ${"\n"})
          ) with ordinality as payment
            (run_id, is_weekly, kind, suffix, master_login, investor_login, due_minor, owed_since, key, key_hash, explanation, rank)
               join fee_master on fee_master.master_login = payment.master_login
               join fee_configuration on fee_configuration.investor_login = payment.investor_login
               left join fee_prepaid on fee_prepaid.investor_login = payment.investor_login
                                 and fee_prepaid.master_login = payment.master_login
        ), taken as (
          update fee_prepaid
          set prepaid_minor = prepaid_minor - used.minor
          from (
            select investor_login, master_login, sum(prepaid) as minor
            from payment
            where prepaid > 0
            group by investor_login, master_login
          ) as used
          where fee_prepaid.investor_login = used.investor_login and fee_prepaid.master_login = used.master_login
        )
        insert into fee_payment
          (run_id, is_weekly, status, created_at, next_try_at, kind, suffix, master_login, payment_account_login,
           investor_login, investor_id, due_minor, prepaid_minor, owed_since, key, key_hash, explanation)
        select run_id, is_weekly, 'PENDING', ${at}, clock_timestamp() + case when is_weekly then 0 else ${COLLECTED_WITHIN_MS} end * interval '1 millisecond', kind, suffix, master_login,
               payment_account_login, investor_login, investor_id, due_minor, prepaid, owed_since, key, key_hash,
               nullif(explanation, '')::jsonb
        from payment
        order by rank
        returning id, due_minor = prepaid_minor
                    or exists (select from fee_payment as earlier where earlier.key_hash = fee_payment.key_hash) as "isCollected"`,
  );
  assert.equal(rows.length, payments.length, "who owes fees has a configuration");
  return rows.toSorted((left, right) => Number(left.id - right.id));
}

/** Those of some keys that have a payment. */
export async function listKnownKeys(db: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(await column<string>(db, sql`select key from fee_payment where key = any(${keys}::text[])`));
}

/**
 * Open payments that the job collects: the oldest one of each Investor, and those of which only the credit is pending. That of a withdrawal or exit is
 * collected with it as a rule, under its account lock. A weekly payment of a stopped Master that was never sent waits, and does not block the Investor's others; nor does one to an archived
 * payment account, so that each of these is known to wait for it. The `case` keeps the planner from joining all open payments: it reads the queue in order, and stops at the limit.
 */
export const paymentQueue = workQueue<{ readonly id: bigint }>({
  table: fragment`fee_payment`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  // The condition of the index fee_payment_to_try.
  isOpen: fragment`work.status not in ('EXECUTED', 'SKIPPED', 'DEFERRED', 'REVERSED')`,
  mayStart: fragment`(
      work.status = 'EXECUTING' or not work.is_weekly
      or work.master_login not in (select master_login from fee_master where break_reason is not null)
    )
    and case when exists (
      select from fee_payment as older
      where older.investor_login = work.investor_login and older.id < work.id
        and older.status in ('PENDING', 'EXECUTING') and older.transfer_id is null and work.transfer_id is null
        and older.reason is distinct from ${ACCOUNT_ARCHIVED}
        and older.master_login not in (select master_login from fee_master where break_reason is not null)
    ) then false else true end`,
  alsoSet: fragment`, status = 'EXECUTING'`,
  columns: fragment`id`,
});

/** Claims due payments of the queue. */
export async function claimPayments(tx: Transaction, limit: number): Promise<DuePayment[]> {
  const claimed = await paymentQueue.claim(tx, limit);
  if (claimed.length === 0) return [];
  return many<DuePayment>(
    tx,
    sql`select * from fee_payment_row where id = any(${claimed.map(({ id }) => id)}::bigint[])`,
  );
}

/** The unsettled ones of some payments, locked until commit; the second of two processes with an outcome finds none. */
export async function lockOpenPayments(tx: Transaction, ids: readonly bigint[]): Promise<DuePayment[]> {
  return many<DuePayment>(
    tx,
    sql`select *
        from fee_payment_row
        where id = any(${ids}::bigint[]) and status in ('PENDING', 'EXECUTING')
        order by id
        for no key update`,
  );
}

/** Those of some keys that are not settled. */
export async function listOpenPayments(db: Queryable, keys: readonly string[]): Promise<DuePayment[]> {
  return many<DuePayment>(
    db,
    sql`select * from fee_payment_row where key = any(${keys}::text[]) and status in ('PENDING', 'EXECUTING')`,
  );
}

/** Payments of a withdrawal or exit that could not be collected with it: the next one collects them first, as weekly ones. */
export async function leaveToJob(db: Queryable, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    db,
    sql`update fee_payment set is_weekly = true where id = any(${ids}::bigint[]) and status in ('PENDING', 'EXECUTING') and transfer_id is null`,
  );
}

/** Weekly payments of some Investors that are not debited yet and may be collected. */
export function openWeekly(investorLogins: readonly string[]): Fragment {
  return fragment`
    select id, key, investor_login, due_minor - prepaid_minor as due
    from fee_payment
    where investor_login = any(${investorLogins}::text[]) and status in ('PENDING', 'EXECUTING') and is_weekly
      and transfer_id is null and due_minor > prepaid_minor
      and (
        status = 'EXECUTING'
        or master_login not in (select master_login from fee_master where break_reason is not null)
      )`;
}

/** The keys of those. */
export async function listOpenWeekly(db: Queryable, investorLogins: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(await column<string>(db, sql`select key from (${openWeekly(investorLogins)}) as weekly`));
}

/** Those of the keys whose payments have ended, and no money was debited for them. */
export async function listEndedUnpaid(db: Queryable, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  return await column<string>(
    db,
    sql`select key
        from fee_payment
        where key = any(${keys}::text[]) and status in ('SKIPPED', 'DEFERRED')
        order by id`,
  );
}
