import assert from "node:assert/strict";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Due } from "../../domain/due.ts";
import { insertPayments } from "../../store/due-payments.ts";
import { listPaymentAccounts } from "../../store/masters.ts";
import { takeDebts } from "../../store/pairs.ts";
import { insertRun, type NewRun } from "../../store/runs.ts";

export type InvestorDue = {
  readonly investorLogin: string;
  readonly investorId: bigint;
  readonly due: readonly Due[];
};

/** Last part of the unique key of every collected debt. */
const DEBT_SUFFIX = "DEBT";

/**
 * Inserts a run and its payments, those of each Investor in the sequence of collection; returns their ids. A debt moves into
 * its payment. When nothing is due there is no run. The pairs must be locked.
 */
export async function recordDue(
  tx: Transaction,
  run: Omit<NewRun, "payments"> & { readonly suffix: string },
  investors: readonly InvestorDue[],
  at: Date,
): Promise<bigint[]> {
  const due = investors.flatMap(({ due: own, ...investor }) => own.map((one) => ({ ...one, ...investor })));
  if (due.length === 0) return [];
  const accounts = await listPaymentAccounts(tx, [...new Set(due.map(({ masterLogin }) => masterLogin))]);
  const payments = due.map((one) => {
    const paymentAccountLogin = accounts.get(one.masterLogin);
    assert(paymentAccountLogin !== undefined, "a Master with due fees has been read");
    return { ...one, paymentAccountLogin, suffix: one.kind === "PF_DEBT" ? DEBT_SUFFIX : run.suffix };
  });
  const id = await insertRun(tx, { ...run, payments: payments.length }, at);
  await takeDebts(
    tx,
    due.filter(({ kind }) => kind === "PF_DEBT"),
  );
  return await insertPayments(tx, { id, isWeekly: run.kind === "WEEKLY", at }, payments);
}
