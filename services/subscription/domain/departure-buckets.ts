import type { DepartureDecision } from "./decide-departure.ts";
import { changeHolding, combine, type HoldingBuckets, move } from "./buckets.ts";

/** The fees are reserved, and the rest of the share stays on the Master until the exit transfer is applied. */
export function afterExit(before: HoldingBuckets, decision: DepartureDecision): HoldingBuckets {
  const reserved = move("pooled", "reserved", sumOfReserves(decision));
  return changeHolding(before, combine(reserved, move("pooled", "outbound", decision.numbers.effective)));
}

/** Fees and payout stay on the Master until their debits show in the log. */
export function afterWithdrawal(before: HoldingBuckets, decision: DepartureDecision): HoldingBuckets {
  return changeHolding(before, move("pooled", "reserved", sumOfReserves(decision)));
}

export function sumOfReserves({ reserves }: DepartureDecision): bigint {
  return reserves.reduce((total, { amount }) => total + amount, 0n);
}
