import { execute, fragment, type Queryable, sql, many } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt } from "#kernel/work-queue/work-queue.ts";
import type { Paid, PaymentOutcome, Unpaid } from "../domain/payment-outcome.ts";
import type { DuePayment } from "./due-payments.ts";

export type PaidPayment = { readonly payment: DuePayment; readonly outcome: Paid };
export type UnpaidPayment = { readonly payment: DuePayment; readonly outcome: Unpaid };
export type DebitedPayment = {
  readonly id: bigint;
  readonly outcome: Extract<PaymentOutcome, { kind: "debited" }>;
};

/** The Masters must be locked: the ids of their credits become visible in sequence. */
export async function markExecuted(tx: Transaction, paid: readonly PaidPayment[], at: Date): Promise<void> {
  await execute(
    tx,
    sql`update fee_payment
        set status = 'EXECUTED', reason = null, amount_minor = paid.amount, transfer_id = paid.transfer_id, deal_id = paid.deal_id,
            executed_at = paid.executed_at, credit_id = nextval('payment_credit_id'), credit_deal_id = paid.credit_deal_id,
            credited_at = ${at}
        from unnest(
          ${paid.map(({ payment }) => payment.id)}::bigint[],
          ${paid.map(({ outcome }) => outcome.amount)}::bigint[],
          ${paid.map(({ outcome }) => outcome.transferId)}::bigint[],
          ${paid.map(({ outcome }) => outcome.debitDealId)}::bigint[],
          ${paid.map(({ outcome }) => outcome.creditDealId)}::bigint[],
          ${paid.map(({ outcome }) => outcome.executedAt)}::timestamptz[]
        ) as paid (id, amount, transfer_id, deal_id, credit_deal_id, executed_at)
        where fee_payment.id = paid.id`,
  );
}

/** All that was due is debt from now on. */
export async function markUnpaid(tx: Transaction, unpaid: readonly UnpaidPayment[]): Promise<void> {
  await execute(
    tx,
    sql`update fee_payment
        set status = unpaid.status, reason = unpaid.reason, amount_minor = 0
        from unnest(
          ${unpaid.map(({ payment }) => payment.id)}::bigint[],
          ${unpaid.map(({ outcome }) => outcome.status)}::text[],
          ${unpaid.map(({ outcome }) => outcome.reason)}::text[]
        ) as unpaid (id, status, reason)
        where fee_payment.id = unpaid.id`,
  );
}

const NEXT_TRY = retryAt(fragment`tries`);

/** The debits are executed; the credits are pending. */
export async function markDebited(db: Queryable, debited: readonly DebitedPayment[]): Promise<void> {
  await execute(
    db,
    sql`update fee_payment
        set status = 'EXECUTING', amount_minor = debited.amount, transfer_id = debited.transfer_id,
            deal_id = debited.deal_id, next_try_at = ${NEXT_TRY}, reason = 'credit pending'
        from unnest(
          ${debited.map(({ id }) => id)}::bigint[],
          ${debited.map(({ outcome }) => outcome.amount)}::bigint[],
          ${debited.map(({ outcome }) => outcome.transferId)}::bigint[],
          ${debited.map(({ outcome }) => outcome.debitDealId)}::bigint[]
        ) as debited (id, amount, transfer_id, deal_id)
        where fee_payment.id = debited.id and status in ('PENDING', 'EXECUTING')`,
  );
}

/** The payments with this hash: of their keys, or of the key under which a fee was sent that no payment knew. */
export async function listByHash(db: Queryable, keyHash: string): Promise<DuePayment[]> {
  return await many<DuePayment>(db, sql`select * from fee_payment_row where "keyHash" = ${keyHash} order by id`);
}

type NewImportedPayment = {
  readonly runId: bigint;
  readonly masterLogin: string;
  readonly paymentAccountLogin: string;
  readonly investorLogin: string;
  readonly investorId: bigint;
  /** Debited: cents, positive. */
  readonly amount: bigint;
  readonly transferId: bigint;
  readonly dealId: bigint;
  readonly key: string;
  readonly keyHash: string;
};

/** A debited payment; the job settles it when its credit is executed. The Master must be locked. */
export async function insertImportedPayment(tx: Transaction, payment: NewImportedPayment, at: Date): Promise<void> {
  const suffix = `IM${payment.keyHash}`;
  await execute(
    tx,
    sql`insert into fee_payment
          (run_id, is_weekly, status, created_at, next_try_at, kind, suffix, master_login, payment_account_login, investor_login,
           investor_id, due_minor, amount_minor, owed_since, transfer_id, deal_id, key, key_hash)
        values (${payment.runId}, false, 'EXECUTING', ${at}, clock_timestamp(), 'PF', ${suffix}, ${payment.masterLogin},
                ${payment.paymentAccountLogin}, ${payment.investorLogin}, ${payment.investorId}, ${payment.amount}, ${payment.amount},
                ${at}, ${payment.transferId}, ${payment.dealId}, ${payment.key}, ${payment.keyHash})`,
  );
}
