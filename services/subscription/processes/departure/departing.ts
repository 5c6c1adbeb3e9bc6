import assert from "node:assert/strict";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import type { DepartureDecision, DepartureKind } from "../../domain/decide-departure.ts";
import { masterUnreadable } from "../../domain/departure-reasons.ts";
import type { DueOfDeparture } from "../../fees/due-of-departure.ts";
import type { FeeDecision, NewFeeDecision } from "../../store/fee-decisions.ts";
import { lockHoldings } from "../../store/holdings.ts";
import type { Leave, LeftHolding, NewLeave } from "../../store/leaves.ts";

/** A try of a leave, with the last part of the unique keys of its fees. */
export type HeldDeparture = NewLeave & { readonly feeSuffix: string };

/** A leave from a pool that is not recorded yet. */
export type PooledDeparture = {
  readonly leave: HeldDeparture;
  readonly holding: LeftHolding;
  /** In which its caller was answered that it holds the account lock. */
  readonly database: string;
};

/** A decided leave, with its fees that `fee` is to record. */
export type DecidedWithFees = { readonly leave: Leave; readonly fees: FeeDecision | undefined };

/** The account and the holding of an Investor that leaves. */
export type DepartingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** Locks the holdings of leaves, and returns each with its own books. The caller has locked the Master and the accounts. */
export async function lockDeparting(
  tx: Transaction,
  accounts: readonly AccountBook[],
  leaves: readonly PooledDeparture[],
): Promise<(DepartingBooks & { readonly waiting: PooledDeparture })[]> {
  const holdings = await lockHoldings(
    tx,
    leaves.map(({ holding }) => holding.subscriptionId),
  );
  const byLogin = new Map(accounts.map((account) => [account.login, account]));
  const byId = new Map(holdings.map((holding) => [holding.subscriptionId, holding]));
  return leaves.map((waiting) => {
    const account = byLogin.get(waiting.leave.investorLogin);
    const holding = byId.get(waiting.holding.subscriptionId);
    assert(account !== undefined && holding !== undefined, "an Investor that leaves a pool has a holding");
    return { waiting, account, holding };
  });
}

/** A decision, carried out in the commit that records it. */
export type Leaving = {
  readonly leave: { readonly kind: DepartureKind; readonly subscriptionId: bigint };
  readonly books: DepartingBooks;
  readonly decision: DepartureDecision;
};

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

type OfRun = {
  readonly masterLogin: string | undefined;
  /** The fee before, and the begin of the week. */
  readonly starts: readonly (Date | undefined)[];
  readonly at: Date;
};

/** The decision that `fee` records for a leave; undefined when nothing is to be collected. */
export function feesOfDeparture(
  { key, investorLogin }: NewLeave,
  { fees, items }: DueOfDeparture,
  { masterLogin, starts, at }: OfRun,
): NewFeeDecision | undefined {
  const weeklyKeys = items.filter(({ isWeekly }) => isWeekly).map((item) => item.key);
  if (fees.length === 0 && weeklyKeys.length === 0) return undefined;
  const times = starts.flatMap((start) => (start !== undefined && start < at ? [start.getTime()] : []));
  const periodStart = new Date(times.length === 0 ? at.getTime() - MIN_PERIOD_MS : Math.max(...times));
  const run = { masterLogin: masterLogin ?? fees[0]?.owedTo ?? "", periodStart, periodEnd: at, markedAt: undefined };
  return { ...run, departureKey: key, investorLogin, isLast: true, weeklyKeys, due: fees };
}

/** The refusal to record: that of `checkDeparture`, or for every other error that the account cannot be read. */
export function finalRefusal(error: unknown): Refusal {
  const isFinal =
    error instanceof Refusal && (error.code === "master_open_positions" || error.code === "allocation_in_progress");
  return isFinal ? error : masterUnreadable();
}
