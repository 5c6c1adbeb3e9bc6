import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A payment as far as an imported fee can be its transfer. */
export type PaymentOfHash = {
  readonly id: bigint;
  readonly key: string;
  readonly investorLogin: string;
  readonly paymentAccountLogin: string;
  /** Cents, positive. */
  readonly due: bigint;
  readonly status: string;
  /** Of its debit; null before. */
  readonly dealId: bigint | null;
};

/** The payments with this hash: of their keys, or of the key under which a fee was sent that no payment knew. */
export async function listByHash(db: Queryable, keyHash: string): Promise<PaymentOfHash[]> {
  return await many<PaymentOfHash>(
    db,
    sql`select id, key, investor_login as "investorLogin", payment_account_login as "paymentAccountLogin",
               due_minor - prepaid_minor as due, status, deal_id as "dealId"
        from fee_payment
        where key_hash = ${keyHash}
        order by id`,
  );
}

export type NewImportedPayment = {
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
