import assert from "node:assert/strict";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import { type DueFee, decideLeave, type LeaveDecision, type LeaveKind, openClaims } from "../../domain/decide-leave.ts";
import { type Due, lessPrepaid } from "../../domain/fees/due.ts";
import type { FeeFacts } from "../../domain/fees/terms.ts";
import { masterUnreadable } from "../../domain/leave-reasons.ts";
import type { DecidedFee, FeeDecision, NewFeeDecision } from "../../store/fee-decisions.ts";
import { listTakenFees } from "../../store/fees.ts";
import { lockHoldings } from "../../store/holdings.ts";
import type { Leave, LeftHolding, NewLeave } from "../../store/leaves.ts";
import { listOpenReserves } from "../../store/reserves.ts";
import { decidedFees } from "../fees/decide-due.ts";

/** A try of a leave, with the last part of the unique keys of its fees. */
export type AskedLeave = NewLeave & { readonly feeSuffix: string };

/** A leave from a pool that is not recorded yet. */
export type PooledLeave = {
  readonly leave: AskedLeave;
  readonly holding: LeftHolding;
  /** In which its caller was answered that it holds the account lock. */
  readonly database: string;
};

/** A decided leave, with its fees that `fee` is to record. */
export type DecidedWithFees = { readonly leave: Leave; readonly fees: FeeDecision | undefined };

/** The account and the holding of an Investor that leaves. */
export type LeavingBooks = { readonly account: AccountBook; readonly holding: HoldingBook };

/** Locks the holdings of leaves, and returns each with its own books. The caller has locked the Master and the accounts. */
export async function lockLeaving(
  tx: Transaction,
  accounts: readonly AccountBook[],
  leaves: readonly PooledLeave[],
): Promise<(LeavingBooks & { readonly waiting: PooledLeave })[]> {
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
  readonly leave: { readonly kind: LeaveKind; readonly subscriptionId: bigint };
  readonly books: LeavingBooks;
  readonly decision: LeaveDecision;
};

/** What is due of a leave: its fees as they are recorded, and the items that are collected before its payout. */
export type DueOfLeave = { readonly fees: readonly DecidedFee[]; readonly items: readonly DueFee[] };

/** Open weekly fees first, then what was decided now, less what was prepaid. */
export function dueOfLeave(
  { key, investorLogin, feeSuffix }: Pick<AskedLeave, "key" | "investorLogin" | "feeSuffix">,
  due: readonly Due[],
  facts: FeeFacts,
): DueOfLeave {
  const fees = decidedFees(due, { investorLogin, suffix: feeSuffix, occasion: { key } });
  const amounts = lessPrepaid(due, facts.prepaid);
  const own = fees.flatMap((fee, index): DueFee[] => {
    const amount = amounts[index] ?? 0n;
    return amount === 0n ? [] : [{ key: fee.key, amount, isWeekly: false }];
  });
  return { fees, items: [...facts.openWeekly, ...own] };
}

type Amounts = {
  readonly leave: Pick<NewLeave, "kind" | "requested" | "investorLogin" | "payoutKey">;
  readonly due: DueOfLeave;
  /** What the account has. */
  readonly held: bigint;
  readonly unposted: bigint;
  readonly quarantined: bigint;
  readonly pooled: bigint;
  /** False for money that no reserve is taken from. */
  readonly countsReserves?: boolean;
};

/** The amounts of leaves, each of another Investor, with the reserves that are open now; in the sequence of the array. */
export async function decideAmounts(db: Queryable, leaves: readonly Amounts[]): Promise<LeaveDecision[]> {
  const reserves = await listOpenReserves(
    db,
    leaves.map(({ leave }) => leave.investorLogin),
  );
  const reservesOf = Map.groupBy(reserves, ({ investorLogin }) => investorLogin);
  const taken = await listTakenFees(
    db,
    leaves.flatMap(({ due }) => due.items.map(({ key }) => key)),
  );
  return leaves.map(({ leave, due, held, unposted, quarantined, pooled, countsReserves = true }) => {
    const { kind, requested, investorLogin, payoutKey } = leave;
    const open = countsReserves ? (reservesOf.get(investorLogin) ?? []) : [];
    const claims = openClaims({ due: due.items, taken, reserves: open });
    return decideLeave({ kind, requested, held, unposted, quarantined, pooled, ...claims }, payoutKey);
  });
}

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

type OfRun = {
  readonly masterLogin: string | undefined;
  /** The fee before, and the begin of the week. */
  readonly starts: readonly (Date | undefined)[];
  readonly at: Date;
};

/** The decision that `fee` records for a leave; undefined when nothing is to be collected. */
export function feesOfLeave(
  { key, investorLogin }: NewLeave,
  { fees, items }: DueOfLeave,
  { masterLogin, starts, at }: OfRun,
): NewFeeDecision | undefined {
  const weeklyKeys = items.filter(({ isWeekly }) => isWeekly).map((item) => item.key);
  if (fees.length === 0 && weeklyKeys.length === 0) return undefined;
  const times = starts.flatMap((start) => (start !== undefined && start < at ? [start.getTime()] : []));
  const periodStart = new Date(times.length === 0 ? at.getTime() - MIN_PERIOD_MS : Math.max(...times));
  const run = { masterLogin: masterLogin ?? fees[0]?.owedTo ?? "", periodStart, periodEnd: at, markedAt: undefined };
  return { ...run, leaveKey: key, investorLogin, isLast: true, weeklyKeys, due: fees };
}

/** The refusal to record: that of `checkLeave`, or for every other error that the account cannot be read. */
export function finalRefusal(error: unknown): Refusal {
  const isFinal =
    error instanceof Refusal && (error.code === "master_open_positions" || error.code === "allocation_in_progress");
  return isFinal ? error : masterUnreadable();
}
