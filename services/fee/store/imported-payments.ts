import { column, execute, many, one, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type ImportedFee, importedPaymentKey, importedSuffix } from "../domain/fee-key.ts";
import { addPrepaid } from "./debts.ts";
import { type DuePayment, PAYMENT_STATE_COLUMNS, type PaymentState } from "./due-payments.ts";

/** The payments with this hash of their keys, and the imported fee with it; there is at most one of each. */
export async function listByHash(tx: Transaction, keyHash: string): Promise<PaymentState[]> {
  return await many<PaymentState>(
    tx,
    sql`select ${PAYMENT_STATE_COLUMNS}
        from fee_payment_row payment
        where id in (select id from fee_payment where key_hash = ${keyHash})
        order by id`,
  );
}

/** Those of some keys that have a payment. */
export async function listKnownKeys(db: Queryable, keys: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(await column<string>(db, sql`select key from fee_payment where key = any(${keys}::text[])`));
}

export type NewImportedPayment = ImportedFee & {
  readonly investorId: bigint;
  readonly paymentAccountLogin: string;
  /** Cents, positive. */
  readonly amount: bigint;
  readonly runId: bigint;
};

/** The Master must be locked. */
export async function insertImportedPayment(tx: Transaction, payment: NewImportedPayment, at: Date): Promise<bigint> {
  const { investorLogin, masterLogin, keyHash } = payment;
  const { id } = await one<{ id: bigint }>(
    tx,
    sql`insert into fee_payment
          (run_id, is_weekly, is_imported, status, created_at, next_try_at, kind, suffix, master_login, payment_account_login,
           investor_login, investor_id, due_minor, owed_since, key, key_hash)
        values (${payment.runId}, false, true, 'PENDING', ${at}, clock_timestamp(), 'PF', ${importedSuffix(keyHash)}, ${masterLogin},
                ${payment.paymentAccountLogin}, ${investorLogin}, ${payment.investorId}, ${payment.amount}, ${at},
                ${importedPaymentKey(payment)}, ${keyHash})
        returning id`,
  );
  return id;
}

/** Platform has recorded nothing under the keys of these payments: they are sent after the imported fee is settled. */
export async function waitForImported(tx: Transaction, ids: readonly bigint[], importedId: bigint): Promise<void> {
  await execute(
    tx,
    sql`update fee_payment
        set waits_for_id = ${importedId}, reason = 'waits for an imported fee'
        where id = any(${ids}::bigint[]) and status in ('PENDING', 'EXECUTING') and transfer_id is null`,
  );
}

export type SettledImport = { readonly payment: DuePayment; readonly paid: bigint };

/**
 * Takes what settled imported fees have paid from the payments that wait for them, and from later ones. The Masters must be locked: that
 * orders this with others that take what was prepaid.
 */
export async function usePaidImports(tx: Transaction, settled: readonly SettledImport[]): Promise<void> {
  for (const { payment, paid } of settled) {
    const { id, investorLogin, masterLogin } = payment;
    const waiting = await many<{ id: bigint; due: bigint }>(
      tx,
      sql`select id, due_minor - prepaid_minor as due
          from fee_payment
          where waits_for_id = ${id}
          order by id
          for no key update`,
    );
    let rest = paid;
    for (const each of waiting) {
      const used = each.due < rest ? each.due : rest;
      rest -= used;
      await execute(
        tx,
        sql`update fee_payment
            set prepaid_minor = prepaid_minor + ${used}, waits_for_id = null, reason = null, next_try_at = clock_timestamp()
            where id = ${each.id}`,
      );
    }
    if (rest > 0n) await addPrepaid(tx, { investorLogin, masterLogin, amount: rest });
  }
}
