import { formatAmount, formatDecimal, usd } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export type LeaveKind = "WITHDRAWAL" | "EXIT";

export type MasterFacts = {
  /** All deals of the Master are filed: balance and open positions on the platform equal those of the log. */
  readonly isComplete: boolean;
  readonly openPositions: number;
};

export type LeaveFacts = {
  readonly kind: LeaveKind;
  readonly requested: bigint;
  /** Balance that platform's Hold returned. */
  readonly held: bigint;
  /** Allocated results that were not posted to the account at that instant. */
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Reserved for debits that are still open. */
  readonly reserved: bigint;
  /** Pooled amount after a strike; 0 outside a pool. */
  readonly pooled: bigint;
  /** Due fees in the order of collection, without those already debited. */
  readonly due: readonly DueFee[];
};

export type DueFee = { readonly key: string; readonly amount: bigint; readonly isWeekly: boolean };

export type LeaveNumbers = {
  readonly before: bigint;
  readonly pending: bigint;
  readonly available: bigint;
  /** Amount that may be paid out, or that leaves the pool at an exit. */
  readonly effective: bigint;
};

export type LeaveDecision = {
  readonly numbers: LeaveNumbers;
  /** Amount reserved in the pool for each debit, by the key of its transfer; empty outside a pool. */
  readonly reserves: readonly { readonly key: string; readonly amount: bigint }[];
};

/** A gate is closed only for a moment, so this is shorter than the delay after a transient failure. */
const GATE_RETRY_AFTER_MS = 500;

export function allocationInProgress(message: string): Refusal {
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: GATE_RETRY_AFTER_MS });
}

/** Refuses while the Master has open positions or deals that are not filed. */
export function checkMaster({ isComplete, openPositions }: MasterFacts): void {
  if (openPositions > 0) {
    throw refuse(
      "master_open_positions",
      `The Master has open positions: ${openPositions}. Retry when they are closed.`,
      {
        details: { open_positions: String(openPositions) },
        outcome: "not_executed",
      },
    );
  }
  if (!isComplete) {
    throw allocationInProgress("The Master's latest deals are still being read. Retry shortly.");
  }
}

/**
 * Refuses the exit and the withdrawal of an Investor in deficit. Called before the fee is crystallised, because a refusal is not
 * possible later.
 */
export function checkLeaving(pooled: bigint): void {
  if (pooled >= 0n) return;
  const share = formatAmount(usd(pooled));
  throw refuse("investor_deficit", `The Investor's share of the pool is ${share}. An operator must cover it first.`, {
    details: { deficit: formatDecimal(usd(-pooled)) },
    outcome: "not_executed",
  });
}

/**
 * Computes the four numbers that the caller receives, in cents, all of one instant, and the reserves in the pool:
 * weekly fees first, then pending fees, then the payout, as far as the free balance of the account covers them.
 */
export function decideLeave(facts: LeaveFacts, payoutKey: string): LeaveDecision {
  const { kind, requested, held, unposted, quarantined, reserved, pooled, due } = facts;
  const own = held + unposted - reserved;
  const free = floorAtZero(own - floorAtZero(quarantined));
  const pending = sum(due.filter(({ isWeekly }) => !isWeekly));
  const before = floorAtZero(own - sum(due.filter(({ isWeekly }) => isWeekly)));
  const available = floorAtZero(before - pending - floorAtZero(quarantined));
  const payout = kind === "WITHDRAWAL" ? smaller(requested, available) : 0n;
  const reserves = reserveUpTo([...due, { key: payoutKey, amount: payout }], smaller(free, floorAtZero(pooled)));
  const effective = kind === "WITHDRAWAL" ? payout : floorAtZero(pooled) - sum(reserves);
  return { numbers: { before, pending, available, effective }, reserves };
}

function reserveUpTo(
  wanted: readonly { readonly key: string; readonly amount: bigint }[],
  limit: bigint,
): { key: string; amount: bigint }[] {
  let left = limit;
  const reserves: { key: string; amount: bigint }[] = [];
  for (const { key, amount } of wanted) {
    const taken = smaller(amount, left);
    if (taken > 0n) reserves.push({ key, amount: taken });
    left -= taken;
  }
  return reserves;
}

function sum(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((total, { amount }) => total + amount, 0n);
}

function floorAtZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
