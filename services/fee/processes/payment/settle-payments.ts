import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Clock } from "#kernel/values/clock.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { COLLECTED_BEFORE, type Paid, type Unpaid } from "../../domain/payment-outcome.ts";
import { type DuePayment, lockOpenPayments } from "../../store/due-payments.ts";
import { lockMasters } from "../../store/masters.ts";
import { markExecuted, markUnpaid, type PaidPayment, type UnpaidPayment } from "../../store/settled-payments.ts";
import { workTogether } from "../together.ts";

/** A payment with its final outcome. */
export type FinalPayment = { readonly payment: DuePayment; readonly outcome: Paid | Unpaid };

/** What commits that calls share work with. */
export type Committer = { readonly pool: Pool; readonly log: Log; readonly now: Clock };

/**
 * Settles payments of any Masters in one commit: what was credited, and what is debt. A Master whose row stays locked
 * fails only its own payments; they are requested again, and platform returns the same outcomes.
 */
export async function settlePayments(
  { pool, log, now }: Committer,
  answered: readonly FinalPayment[],
): Promise<(undefined | Error)[]> {
  const items = answered.map((each) => ({ ...each, masterLogin: each.payment.masterLogin }));
  return await workTogether(items, async (own) => {
    const deferred = await inTransaction(pool, (tx) => settle(tx, own, now()));
    for (const { payment, outcome } of deferred) {
      const { key, masterLogin: login } = payment;
      log.info("fee deferred, amount is now debt", { key, login, reason: outcome.reason });
    }
    return own.map(() => undefined);
  });
}

/** Ends payments that imported fees have paid, in a transaction of the caller: nothing is sent for them, and what is left of them becomes debt. */
export async function endCollected(tx: Transaction, ids: readonly bigint[], at: Date): Promise<void> {
  if (ids.length === 0) return;
  const payments = await lockOpenPayments(tx, ids);
  await settle(
    tx,
    payments.map((payment) => ({ payment, outcome: COLLECTED_BEFORE })),
    at,
  );
}

/**
 * Under the locks of the Masters' rows, so that no reader sees the id of a credit before a lower one. Payments that another process has settled
 * stay as they are. Returns those whose due amount has become debt.
 */
async function settle(tx: Transaction, answered: readonly FinalPayment[], at: Date): Promise<UnpaidPayment[]> {
  await lockMasters(
    tx,
    answered.map(({ payment }) => payment.masterLogin),
  );
  const open = await lockOpenPayments(
    tx,
    answered.map(({ payment }) => payment.id),
  );
  const outcomes = new Map(answered.map(({ payment, outcome }) => [payment.id, outcome]));
  const paid: PaidPayment[] = [];
  const refused: UnpaidPayment[] = [];
  for (const payment of open) {
    const outcome = outcomes.get(payment.id);
    if (outcome?.kind === "paid") paid.push({ payment, outcome });
    if (outcome?.kind === "unpaid") refused.push({ payment, outcome });
  }
  if (paid.length > 0) await markExecuted(tx, paid, at);
  if (refused.length > 0) await markUnpaid(tx, refused);
  return refused.filter(({ outcome }) => outcome.status !== "SKIPPED");
}
