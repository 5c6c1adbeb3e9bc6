import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Clock } from "#kernel/clock.ts";
import { COLLECTED_BEFORE, type Paid, type Unpaid } from "../../domain/payment-outcome.ts";
import { type DuePayment, lockOpenPayments } from "../../store/due-payments.ts";
import { addDebtParts, type NewDebtPart } from "../../store/debt-parts.ts";
import { addDebts, nameOf, type OwedDebt } from "../../store/debts.ts";
import { lockMasters } from "../../store/masters.ts";
import { countSettled, type Settled } from "../../store/runs.ts";
import { markExecuted, markUnpaid, type PaidPayment, type UnpaidPayment } from "../../store/settled-payments.ts";
import { workTogether } from "../together.ts";

/** A payment with its final outcome. */
export type FinalPayment = { readonly payment: DuePayment; readonly outcome: Paid | Unpaid };

/** False when another process has settled the payment before. */
export type Settlement = { readonly isSettled: boolean };

export type Settler = { readonly pool: Pool; readonly log: Log; readonly now: Clock };

/**
 * Settles payments of any Masters in one commit: credits, debts and the counts of their runs. A Master whose row stays locked
 * fails only its own payments; they are requested again, and platform returns the same outcomes.
 */
export async function settlePayments(
  settler: Settler,
  answered: readonly FinalPayment[],
): Promise<(Settlement | Error)[]> {
  const { pool, log, now } = settler;
  const items = answered.map((each) => ({ ...each, masterLogin: each.payment.masterLogin }));
  return await workTogether(items, async (own) => {
    const { settled, deferred } = await inTransaction(pool, (tx) => settle(tx, own, now()));
    for (const { payment, outcome } of deferred) {
      const { key, masterLogin: login } = payment;
      log.info("fee deferred, amount is now debt", { key, login, reason: outcome.reason });
    }
    return own.map(({ payment }) => ({ isSettled: settled.has(payment.id) }));
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

type Done = { readonly settled: ReadonlySet<bigint>; readonly deferred: readonly UnpaidPayment[] };

/** Under the locks of the Masters' rows, so that no reader sees the id of a credit before a lower one. */
async function settle(tx: Transaction, answered: readonly FinalPayment[], at: Date): Promise<Done> {
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
  const uncollected = uncollectedOf(paid, refused);
  await addDebts(tx, debtsOf(uncollected));
  await addDebtParts(tx, uncollected.map(partOf));
  if (paid.length > 0) await markExecuted(tx, paid, at);
  if (refused.length > 0) await markUnpaid(tx, refused);
  if (open.length > 0) await countSettled(tx, countsOf(paid, refused));
  const deferred = refused.filter(({ outcome }) => outcome.status !== "SKIPPED");
  return { settled: new Set(open.map(({ id }) => id)), deferred };
}

type Uncollected = { readonly payment: DuePayment; readonly amount: bigint };

function uncollectedOf(paid: readonly PaidPayment[], refused: readonly UnpaidPayment[]): Uncollected[] {
  return [
    ...paid.map(({ payment, outcome }) => ({ payment, amount: payment.due - outcome.amount })),
    ...refused.map(({ payment }) => ({ payment, amount: payment.due })),
  ].filter(({ amount }) => amount !== 0n);
}

function partOf({ payment: { investorLogin, masterLogin, id: sourceId }, amount }: Uncollected): NewDebtPart {
  return { investorLogin, masterLogin, sourceId, amount };
}

/** Uncollected amounts, one sum for each Investor and Master, with the age of its oldest part. */
function debtsOf(uncollected: readonly Uncollected[]): OwedDebt[] {
  const debts = new Map<string, OwedDebt>();
  for (const { payment, amount } of uncollected) {
    const { investorLogin, masterLogin, since } = payment;
    const pair = nameOf({ investorLogin, masterLogin });
    const known = debts.get(pair) ?? { investorLogin, masterLogin, since, amount: 0n };
    const oldest = known.since < since ? known.since : since;
    debts.set(pair, { ...known, since: oldest, amount: known.amount + amount });
  }
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
