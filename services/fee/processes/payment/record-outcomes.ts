import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Delay } from "#kernel/work-queue/work-queue.ts";
import type { Deps } from "../../deps.ts";
import type { PaymentOutcome } from "../../domain/payment-outcome.ts";
import { type DuePayment, lockOpenPayments, paymentQueue } from "../../store/due-payments.ts";
import { lockMaster } from "../../store/masters.ts";
import { addDebts, type PairDebt } from "../../store/pairs.ts";
import { countSettled, type Settled } from "../../store/runs.ts";
import {
  insertCredits,
  markDebited,
  markExecuted,
  markUnpaid,
  type PaidPayment,
  type UnpaidPayment,
} from "../../store/settled-payments.ts";

/** Account locks are held briefly, so a fee that waits for one is requested again soon. */
const MAX_BUSY_MS = 2_000;

export type AnsweredPayment = { readonly payment: DuePayment; readonly outcome: PaymentOutcome };

type Waiting = Delay<bigint>;

/** Records the outcomes of payments. Each payment is settled once, also when several processes report its outcome. */
export async function recordOutcomes(deps: Deps, answered: readonly AnsweredPayment[]): Promise<void> {
  const { pool, wakeSignals } = deps;
  failpoint("before_outcome", answered[0]?.outcome.kind);
  const settled = answered.filter(({ outcome: { kind } }) => kind === "paid" || kind === "unpaid");
  const waiting: Waiting[] = [];
  for (const [masterLogin, own] of Map.groupBy(settled, ({ payment }) => payment.masterLogin)) {
    waiting.push(...(await settleIfPossible(deps, masterLogin, own)));
  }
  for (const { payment, outcome } of answered) {
    const { id, tries } = payment;
    if (outcome.kind === "debited") await markDebited(pool, id, outcome);
    if (outcome.kind === "open") {
      waiting.push({ id, tries, reason: outcome.reason, ...(outcome.isBusy ? { maxMs: MAX_BUSY_MS } : {}) });
    }
  }
  await paymentQueue.retryLater(pool, waiting);
  // Credits are pending, retries are due later, and a settled payment allows the Investor's next one.
  wakeSignals.payments.notify();
}

/**
 * A Master whose row stays locked, because a large week is being decided, delays only its own payments. They are requested
 * again, and platform returns the same outcomes.
 */
async function settleIfPossible(
  { pool, log, now }: Deps,
  masterLogin: string,
  own: readonly AnsweredPayment[],
): Promise<Waiting[]> {
  try {
    const deferred = await inTransaction(pool, (tx) => settle(tx, masterLogin, own, now()));
    for (const { payment, outcome } of deferred) {
      log.info("fee deferred, amount is now debt", { key: payment.key, login: masterLogin, reason: outcome.reason });
    }
    return [];
  } catch (error) {
    log.info("fee outcomes not recorded, retry scheduled", { login: masterLogin, count: own.length, error });
    return own.map(({ payment: { id, tries } }) => {
      return { id, tries, reason: "outcome not recorded yet", maxMs: MAX_BUSY_MS };
    });
  }
}

/** Under the lock of the Master's row, so that no reader sees the id of a credit before a lower one. Returns the deferred payments. */
async function settle(
  tx: Transaction,
  masterLogin: string,
  answered: readonly AnsweredPayment[],
  at: Date,
): Promise<UnpaidPayment[]> {
  await lockMaster(tx, masterLogin);
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
  // Pairs are locked before payments are updated, the sequence of a decision that lists payments under locked pairs.
  await addDebts(tx, debtsOf(paid, refused));
  await markExecuted(tx, paid, await insertCredits(tx, paid, at));
  await markUnpaid(tx, refused);
  await countSettled(tx, countsOf(paid, refused));
  return refused.filter(({ outcome }) => outcome.status !== "SKIPPED");
}

/** Uncollected amounts, one sum for each Investor, with the age of its oldest part. */
function debtsOf(paid: readonly PaidPayment[], refused: readonly UnpaidPayment[]): PairDebt[] {
  const debts = new Map<string, PairDebt>();
  const addDebt = ({ investorLogin, masterLogin, since }: DuePayment, amount: bigint): void => {
    if (amount === 0n) return;
    const known = debts.get(investorLogin) ?? { investorLogin, masterLogin, since, amount: 0n };
    const oldest = known.since < since ? known.since : since;
    debts.set(investorLogin, { ...known, since: oldest, amount: known.amount + amount });
  };
  for (const { payment, outcome } of paid) addDebt(payment, payment.due - outcome.amount);
  for (const { payment } of refused) addDebt(payment, payment.due);
  return [...debts.values()];
}

function countsOf(paid: readonly PaidPayment[], refused: readonly UnpaidPayment[]): Map<bigint, Settled> {
  const counts = new Map<bigint, Settled>();
  const count = (runId: bigint, executed: number, failed: number): void => {
    const known = counts.get(runId) ?? { settled: 0, executed: 0, failed: 0 };
    const settled = known.settled + 1;
    counts.set(runId, { settled, executed: known.executed + executed, failed: known.failed + failed });
  };
  for (const { payment } of paid) count(payment.runId, 1, 0);
  for (const { payment, outcome } of refused) count(payment.runId, 0, outcome.status === "SKIPPED" ? 0 : 1);
  return counts;
}
