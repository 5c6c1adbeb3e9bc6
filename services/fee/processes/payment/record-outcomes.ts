import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { backOffMs, later } from "#kernel/retry.ts";
import type { Deps } from "../../deps.ts";
import type { PaymentOutcome } from "../../domain/payment-outcome.ts";
import { type DuePayment, lockOpenPayments } from "../../store/due-payments.ts";
import { lockMaster } from "../../store/masters.ts";
import { addDebts, type PairDebt } from "../../store/pairs.ts";
import { countSettled, type Settled } from "../../store/runs.ts";
import {
  insertCredits,
  markDebited,
  markExecuted,
  markUnpaid,
  type PaidPayment,
  postponePayments,
  type UnpaidPayment,
} from "../../store/settled-payments.ts";

/** A account lock is held for a moment only, and a fee that waits for it should follow soon. */
const MAX_BUSY_MS = 2_000;

export type Asked = { readonly payment: DuePayment; readonly outcome: PaymentOutcome };

type Waiting = { readonly id: bigint; readonly until: Date; readonly reason: string };

/** Writes down what became of payments. Each is settled once, however many know how it ended. */
export async function recordOutcomes(deps: Deps, asked: readonly Asked[]): Promise<void> {
  const { pool, now } = deps;
  failpoint("before_outcome", asked[0]?.outcome.kind);
  const settled = asked.filter(({ outcome: { kind } }) => kind === "paid" || kind === "unpaid");
  const waiting: Waiting[] = [];
  for (const [masterLogin, own] of Map.groupBy(settled, ({ payment }) => payment.masterLogin)) {
    waiting.push(...(await settleIfPossible(deps, masterLogin, own)));
  }
  for (const { payment, outcome } of asked) {
    const { id, tries } = payment;
    if (outcome.kind === "debited") await markDebited(pool, id, outcome, later(now(), backOffMs(tries)));
    if (outcome.kind === "open") {
      waiting.push({
        id,
        until: later(now(), backOffMs(tries, outcome.isBusy ? MAX_BUSY_MS : undefined)),
        reason: outcome.reason,
      });
    }
  }
  if (waiting.length > 0) await postponePayments(pool, waiting);
}

/**
 * A Master whose row is somebody else's for long, because a large week is being decided, keeps the payments of no other
 * waiting. Its own are asked for again: platform answers them the same.
 */
async function settleIfPossible(
  { pool, log, now }: Deps,
  masterLogin: string,
  own: readonly Asked[],
): Promise<Waiting[]> {
  try {
    const deferred = await inTransaction(pool, (tx) => settle(tx, masterLogin, own, now()));
    for (const { payment, outcome } of deferred) {
      log.info("fee deferred; its amount is debt", { key: payment.key, login: masterLogin, reason: outcome.reason });
    }
    return [];
  } catch (error) {
    log.warn("what became of fees is written down later", { login: masterLogin, count: own.length, error });
    return own.map(({ payment: { id, tries } }) => {
      return { id, until: later(now(), backOffMs(tries, MAX_BUSY_MS)), reason: "not written down yet" };
    });
  }
}

/** Under the Master's row, so that nobody sees the id of a credit before a lower one. Answers what became a new debt. */
async function settle(
  tx: Transaction,
  masterLogin: string,
  asked: readonly Asked[],
  at: Date,
): Promise<UnpaidPayment[]> {
  await lockMaster(tx, masterLogin);
  const open = await lockOpenPayments(
    tx,
    asked.map(({ payment }) => payment.id),
  );
  const outcomes = new Map(asked.map(({ payment, outcome }) => [payment.id, outcome]));
  const paid: PaidPayment[] = [];
  const refused: UnpaidPayment[] = [];
  for (const payment of open) {
    const outcome = outcomes.get(payment.id);
    if (outcome?.kind === "paid") paid.push({ payment, outcome });
    if (outcome?.kind === "unpaid") refused.push({ payment, outcome });
  }
  // Before any payment names its credit: that locks it against whoever lists it under locked pairs.
  await addDebts(tx, debtsOf(paid, refused));
  await markExecuted(tx, paid, await insertCredits(tx, paid, at));
  await markUnpaid(tx, refused);
  await countSettled(tx, countsOf(paid, refused));
  return refused.filter(({ outcome }) => outcome.status !== "SKIPPED");
}

/** What was due and not taken, with its age; one sum for each Investor. */
function debtsOf(paid: readonly PaidPayment[], refused: readonly UnpaidPayment[]): PairDebt[] {
  const debts = new Map<string, PairDebt>();
  const owe = ({ investorLogin, masterLogin, since }: DuePayment, amount: bigint): void => {
    if (amount === 0n) return;
    const known = debts.get(investorLogin) ?? { investorLogin, masterLogin, since, amount: 0n };
    const oldest = known.since < since ? known.since : since;
    debts.set(investorLogin, { ...known, since: oldest, amount: known.amount + amount });
  };
  for (const { payment, outcome } of paid) owe(payment, payment.due - outcome.amount);
  for (const { payment } of refused) owe(payment, payment.due);
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
