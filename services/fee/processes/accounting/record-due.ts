import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Due } from "../../domain/due.ts";
import { DEBT_SUFFIX, paymentKey } from "../../domain/payment-key.ts";
import { takeDebtParts } from "../../store/debt-parts.ts";
import { insertPayments, type InsertedPayment } from "../../store/due-payments.ts";
import { takeDebts } from "../../store/pairs.ts";
import { insertRuns, type NewRun } from "../../store/runs.ts";

export type InvestorDue = {
  readonly investorLogin: string;
  readonly investorId: bigint;
  readonly due: readonly Due[];
};

/** What is due in one run. */
export type RunDue = {
  readonly run: Omit<NewRun, "payments">;
  /** Last part of the unique keys of its fees. */
  readonly suffix: string;
  readonly investors: readonly InvestorDue[];
};

/** Inserts a run for each, except where nothing is due, with its payments, which are returned. The pairs must be locked. */
export async function recordDue(tx: Transaction, decided: readonly RunDue[], at: Date): Promise<InsertedPayment[][]> {
  const counted = decided.map((each) => ({ ...each, payments: countDue(each) }));
  const due = counted.filter(({ payments }) => payments > 0);
  const runIds = await insertRuns(
    tx,
    due.map(({ run, payments }) => ({ ...run, payments })),
    at,
  );
  const inserted = await recordPayments(
    tx,
    due.map((each, index) => ({ ...each, runId: runIds[index] ?? 0n })),
    at,
  );
  let next = 0;
  return counted.map(({ payments }) => inserted.slice(next, (next += payments)));
}

export function countDue({ investors }: Pick<RunDue, "investors">): number {
  return investors.reduce((count, { due }) => count + due.length, 0);
}

/**
 * Inserts the payments of some runs, those of each Investor in the sequence of collection, and returns them. A debt moves into its
 * payment.
 */
export async function recordPayments(
  tx: Transaction,
  runs: readonly (RunDue & { readonly runId: bigint })[],
  at: Date,
): Promise<InsertedPayment[]> {
  const due = runs.flatMap(({ runId, run, suffix, investors }) =>
    investors.flatMap(({ due: own, ...investor }) =>
      own.map((one) => {
        const payment = { ...one, ...investor, suffix: one.kind === "PF_DEBT" ? DEBT_SUFFIX : suffix };
        return { ...payment, runId, isWeekly: run.kind === "WEEKLY", key: paymentKey(run, payment) };
      }),
    ),
  );
  if (due.length === 0) return [];
  await takeDebts(
    tx,
    due.filter(({ kind }) => kind === "PF_DEBT"),
  );
  const inserted = await insertPayments(tx, due, at);
  await takeDebtParts(
    tx,
    due.flatMap(({ kind, investorLogin, masterLogin }, index) =>
      kind === "PF_DEBT" ? { investorLogin, masterLogin, paymentId: inserted[index]?.id ?? 0n } : [],
    ),
  );
  return inserted;
}
