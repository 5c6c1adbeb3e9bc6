import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { later } from "#kernel/retry.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import type { LeaveDecision } from "../../domain/decide-leave.ts";
import { masterUnreadable } from "../../domain/leave-reasons.ts";
import { lastCutOff } from "../../domain/weeks.ts";
import type { WorkAtGate } from "../../store/gates.ts";
import { lockHoldings } from "../../store/holdings.ts";
import type { LeftHolding, Leave, NewLeave } from "../../store/leaves.ts";
import type { Master } from "../../store/masters.ts";

/** A leave from a pool that is not recorded yet. */
export type PooledLeave = {
  readonly leave: NewLeave;
  readonly holding: LeftHolding;
  /** In which its caller was answered that it holds the account lock. */
  readonly database: string;
};

/** A settled leave from a pool: the gate of its Master is closed. */
export type GatedLeave = Leave & { readonly subscriptionId: bigint; readonly masterLogin: string };

/** The account and the holding of an Investor that leaves. */
export type LeavingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

type Owner = { readonly investorLogin: string; readonly subscriptionId: bigint };

/** Locks the holdings of leaves, and returns each with its own books. The caller has locked the Master and the accounts. */
export async function lockLeaving<L>(
  tx: Transaction,
  accounts: readonly AccountBook[],
  leaves: readonly L[],
  ownerOf: (leave: L) => Owner,
): Promise<(LeavingBooks & { readonly leave: L })[]> {
  const holdings = await lockHoldings(
    tx,
    leaves.map((leave) => ownerOf(leave).subscriptionId),
  );
  const byLogin = new Map(accounts.map((account) => [account.login, account]));
  const byId = new Map(holdings.map((holding) => [holding.subscriptionId, holding]));
  return leaves.map((leave) => {
    const { investorLogin, subscriptionId } = ownerOf(leave);
    const [account, holding] = [byLogin.get(investorLogin), byId.get(subscriptionId)];
    assert(account !== undefined && holding !== undefined, "an Investor that leaves a pool has a holding");
    return { leave, account, holding };
  });
}

/** A decision, carried out in the commit that records it. */
export type Leaving = {
  readonly leave: GatedLeave;
  readonly books: LeavingBooks;
  readonly decision: LeaveDecision;
};

/** A job that sleeps may have looked for its next week while the gate was closed; it looks again at the latest after this time. */
const NEXT_LOOK_MS = 15_000;

/** Wakes the jobs whose work of the Master has waited for its gate to open. */
export function wakeAfterGate(
  tx: Transaction,
  { wakeSignals, week, now }: Pick<Deps, "wakeSignals" | "week" | "now">,
  { hasResults, hasFlows, weeksClosedThrough }: WorkAtGate & Pick<Master, "weeksClosedThrough">,
): void {
  if (hasResults) afterCommit(tx, wakeSignals.results.notify);
  if (hasFlows) afterCommit(tx, wakeSignals.strikes.notify);
  const isWeekDue = weeksClosedThrough !== null && lastCutOff(week, later(now(), NEXT_LOOK_MS)) > weeksClosedThrough;
  if (isWeekDue) afterCommit(tx, wakeSignals.weeks.notify);
}

/** The refusal to record: that of `checkLeave`, or for every other error that the account cannot be read. */
export function finalRefusal(error: unknown): Refusal {
  const isFinal =
    error instanceof Refusal && (error.code === "master_open_positions" || error.code === "allocation_in_progress");
  return isFinal ? error : masterUnreadable();
}
