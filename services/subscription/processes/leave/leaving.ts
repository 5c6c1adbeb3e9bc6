import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, recordedAs } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import { allocationInProgress, type LeaveDecision } from "../../domain/decide-leave.ts";
import { type Gate, lockGate, openGate } from "../../store/gates.ts";
import { type Leave, markRefused } from "../../store/leaves.ts";

/** A leave whose gate is closed. */
export type GatedLeave = Leave & { readonly subscriptionId: bigint; readonly masterLogin: string };

/** The account and the holding of an Investor that leaves. */
export type LeavingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** A decision, carried out in the commit that records it. */
export type Leaving = {
  readonly leave: GatedLeave;
  readonly books: LeavingBooks;
  readonly decision: LeaveDecision;
  readonly at: Date;
};

/** Refuses a try without a settled log position and opens its gate, in one commit. */
export async function refuseUnderGate(deps: Deps, leave: Leave, gate: Gate, refusal: Refusal): Promise<void> {
  await inTransaction(deps.pool, async (tx) => {
    if (!(await lockGate(tx, gate))) return;
    // False when its log position is fixed already: then the gate stays closed until the decision is finished.
    if (!(await markRefused(tx, { ...leave, state: "GATED" }, recordedAs(refusal), deps.now()))) return;
    await openGate(tx, gate);
    wakeAfterGate(tx, deps);
  });
}

/** Wakes the jobs whose work of the Master has waited for its gate to open. */
export function wakeAfterGate(tx: Transaction, { wakeSignals }: Pick<Deps, "wakeSignals">): void {
  for (const { notify } of [wakeSignals.results, wakeSignals.weeks, wakeSignals.strikes]) afterCommit(tx, notify);
}

/** The refusal to record: that of `checkMaster`, or for every other error that the account cannot be read. */
export function finalRefusal(error: unknown): Refusal {
  const isFinal =
    error instanceof Refusal && (error.code === "master_open_positions" || error.code === "allocation_in_progress");
  return isFinal ? error : allocationInProgress("The Master's account cannot be read now. Retry shortly.");
}
