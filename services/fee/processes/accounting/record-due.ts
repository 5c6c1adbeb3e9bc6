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

/** Ends the unique key of every debt that is collected. */
const DEBT_SUFFIX = "DEBT";

/**
 * A run and its payments, in the order in which each Investor's are taken; answers their ids. A debt goes into its payment.
 * Without anything due there is no run. The pairs are locked.
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
    assert(paymentAccountLogin !== undefined, "what is owed to a Master was read from it");
    return { ...one, paymentAccountLogin, suffix: one.kind === "PF_DEBT" ? DEBT_SUFFIX : run.suffix };
  });
  const id = await insertRun(tx, { ...run, payments: payments.length }, at);
  await takeDebts(
    tx,
    due.filter(({ kind }) => kind === "PF_DEBT"),
  );
  return await insertPayments(tx, { id, isWeekly: run.kind === "WEEKLY", at }, payments);
}
