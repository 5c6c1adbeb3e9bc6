import { formatDecimal, usd } from "#kernel/money.ts";
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
  /** What Hold answered: balance and place in the log are one fact. */
  readonly held: bigint;
  /** Results that are allocated and not on the account yet. */
  readonly unposted: bigint;
  /** Set apart for others: open fees and payouts. */
  readonly reserved: bigint;
  readonly quarantined: bigint;
  /** What works in the pool, with everything struck; 0 outside a pool. */
  readonly pooled: bigint;
  readonly pendingFee: bigint;
};

export type LeaveNumbers = {
  readonly before: bigint;
  readonly pending: bigint;
  readonly available: bigint;
  /** What may be paid out, or what leaves the pool at an exit. */
  readonly effective: bigint;
};

const RETRY_AFTER_MS = 500;

/** Money leaves a pool only when nothing of the Master's floats and nothing is on its way. */
export function checkMaster({ isComplete, openPositions }: MasterFacts): void {
  if (openPositions > 0) {
    throw refuse("master_open_positions", "the Master has open positions", {
      details: { open_positions: String(openPositions) },
      outcome: "not_executed",
    });
  }
  if (!isComplete) {
    throw refuse("allocation_in_progress", "the Master's latest deals are still being read", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}

/** The four numbers that the caller is told, all of one instant. */
export function decideLeave(facts: LeaveFacts): LeaveNumbers {
  const { kind, requested, held, unposted, reserved, quarantined, pooled, pendingFee } = facts;
  const before = floorAtZero(held + unposted - reserved);
  const available = floorAtZero(before - pendingFee - floorAtZero(quarantined));
  const numbers = { before, pending: pendingFee, available };
  if (kind === "WITHDRAWAL") return { ...numbers, effective: least(requested, available) };
  if (pooled < 0n) {
    throw refuse("investor_deficit", "the Investor owes the pool; an operator has to compensate it first", {
      details: { deficit: formatDecimal(usd(-pooled)) },
      outcome: "not_executed",
    });
  }
  return { ...numbers, effective: floorAtZero(pooled - pendingFee) };
}

function floorAtZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function least(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
