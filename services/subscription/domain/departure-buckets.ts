import type { DepartureDecision } from "./decide-departure.ts";
import { changeHolding, combine, type HoldingBuckets, move } from "./buckets.ts";

export type ExitedBuckets = {
  /** What has to leave the Master, in cents. */
  readonly amount: bigint;
  readonly buckets: HoldingBuckets;
};

/** The fees are reserved, and the rest of the share stays on the Master until the exit transfer is applied. */
export function afterExit(before: HoldingBuckets, decision: DepartureDecision): ExitedBuckets {
  // A reserve returned since the log position was fixed waits for units that are no longer issued.
  const { waiting } = before;
  const amount = decision.numbers.effective + waiting;
  const left = combine(
    move("pooled", "reserved", sumOfReserves(decision)),
    move("waiting", "pooled", waiting),
    move("pooled", "outbound", amount),
  );
  return { amount, buckets: changeHolding(before, left) };
}

/** Fees and payout stay on the Master until their debits show in the log. */
export function afterWithdrawal(before: HoldingBuckets, decision: DepartureDecision): HoldingBuckets {
  return changeHolding(before, move("pooled", "reserved", sumOfReserves(decision)));
}

export function sumOfReserves({ reserves }: DepartureDecision): bigint {
  return reserves.reduce((total, { amount }) => total + amount, 0n);
}
