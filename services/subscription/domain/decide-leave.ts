import { formatAmount, formatDecimal, usd } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export type LeaveKind = "WITHDRAWAL" | "EXIT";

export type MasterFacts = {
  /** Balance and open positions are exactly those that the log leaves. */
  readonly isComplete: boolean;
  readonly openPositions: number;
};

export type LeaveFacts = {
  readonly kind: LeaveKind;
  readonly requested: bigint;
  /** What Hold answered. */
  readonly held: bigint;
  /** Results that were allocated and not on the account at that instant. */
  readonly unposted: bigint;
  readonly quarantined: bigint;
  /** Set apart for debits that are still undecided. */
  readonly reserved: bigint;
  /** What works in the pool, with everything struck; 0 outside a pool. */
  readonly pooled: bigint;
  /** Everything that is due now, in the order in which it is taken; without what was taken already. */
  readonly due: readonly DueFee[];
};

export type DueFee = { readonly key: string; readonly amount: bigint; readonly isWeekly: boolean };

export type LeaveNumbers = {
  readonly before: bigint;
  readonly pending: bigint;
  readonly available: bigint;
  /** What may be paid out, or what leaves the pool at an exit. */
  readonly effective: bigint;
};

export type LeaveDecision = {
  readonly numbers: LeaveNumbers;
  /** What of the pool is set apart for each debit, by the key of its transfer; nothing outside a pool. */
  readonly reserves: readonly { readonly key: string; readonly amount: bigint }[];
};

/** A gate is closed for a moment only, so the caller is asked back sooner than after a transient failure. */
const GATE_RETRY_AFTER_MS = 500;

export function notReadYet(message: string): Refusal {
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: GATE_RETRY_AFTER_MS });
}

/** Money leaves a pool only when nothing of the Master's floats and nothing is on its way. */
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
    throw notReadYet("The Master's latest deals are still being read. Retry shortly.");
  }
}

/** The last instant at which an Investor may be refused: afterwards its fee is fixed. */
export function checkLeaving({ kind, pooled }: { readonly kind: LeaveKind; readonly pooled: bigint }): void {
  if (kind === "WITHDRAWAL" || pooled >= 0n) return;
  const share = formatAmount(usd(pooled));
  throw refuse("investor_deficit", `The Investor's share of the pool is ${share}. An operator must cover it first.`, {
    details: { deficit: formatDecimal(usd(-pooled)) },
    outcome: "not_executed",
  });
}

/**
 * The four numbers that the caller is told, all of one instant, and what is set apart in the pool: fees that were due
 * before, then those of now, then the payout, as far as there is money on the account for them.
 */
export function decideLeave(facts: LeaveFacts, payoutKey: string): LeaveDecision {
  const { kind, requested, held, unposted, quarantined, reserved, pooled, due } = facts;
  const own = held + unposted - reserved;
  const free = floorAtZero(own - floorAtZero(quarantined));
  const pending = sum(due.filter(({ isWeekly }) => !isWeekly));
  const before = floorAtZero(own - sum(due.filter(({ isWeekly }) => isWeekly)));
  const available = floorAtZero(before - pending - floorAtZero(quarantined));
  const payout = kind === "WITHDRAWAL" ? least(requested, available) : 0n;
  const reserves = setApart([...due, { key: payoutKey, amount: payout }], least(free, floorAtZero(pooled)));
  const effective = kind === "WITHDRAWAL" ? payout : floorAtZero(pooled) - sum(reserves);
  return { numbers: { before, pending, available, effective }, reserves };
}

function setApart(
  wanted: readonly { readonly key: string; readonly amount: bigint }[],
  upTo: bigint,
): { key: string; amount: bigint }[] {
  let left = upTo;
  const reserves: { key: string; amount: bigint }[] = [];
  for (const { key, amount } of wanted) {
    const taken = least(amount, left);
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

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
