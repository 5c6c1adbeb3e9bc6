import type { Change, HoldingBuckets } from "./buckets.ts";

export type Adoption = {
  readonly change: Change;
  /** Signed change that the Master has to mirror. */
  readonly flow: bigint;
  /** Cents taken from the pooled amount whose units are redeemed at the next strike. */
  readonly unredeemed: bigint;
};

/**
 * Turns external funds of an Investor in a pool into a flow: a deposit joins the pool with the next mirror, a
 * withdrawal leaves it. No fee is crystallised and earned profit does not change. Undefined when more was withdrawn
 * than the pooled amount.
 */
export function adoptExternal(amount: bigint, { pooled }: Pick<HoldingBuckets, "pooled">): Adoption | undefined {
  if (amount >= 0n) {
    return { change: { quarantined: -amount, inbound: amount }, flow: amount, unredeemed: 0n };
  }
  const taken = -amount;
  if (taken > pooled) return undefined;
  return { change: { quarantined: taken, pooled: -taken, outbound: taken }, flow: -taken, unredeemed: taken };
}
