import type { AccountBuckets, Change, HoldingBuckets } from "./buckets.ts";

export type Adoption = {
  readonly change: Change;
  /** Signed change that the Master has to mirror. */
  readonly flow: bigint;
  /** Cents taken from the pooled amount whose units are redeemed at the next strike. */
  readonly unredeemed: bigint;
};

/**
 * Turns the external funds of an Investor in a pool into a flow: a deposit joins the pool with the next mirror, a
 * withdrawal leaves it. No fee is crystallised and earned profit does not change. Undefined when more was withdrawn
 * than the pooled amount.
 */
export function adoptExternal({ quarantined }: AccountBuckets, { pooled }: HoldingBuckets): Adoption | undefined {
  if (quarantined >= 0n) {
    return { change: { quarantined: -quarantined, inbound: quarantined }, flow: quarantined, unredeemed: 0n };
  }
  const taken = -quarantined;
  if (taken > pooled) return undefined;
  return { change: { quarantined: taken, pooled: -taken, outbound: taken }, flow: -taken, unredeemed: taken };
}
