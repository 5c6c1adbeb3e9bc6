import type { AccountBuckets, Change, HoldingBuckets } from "./buckets.ts";

export type Adoption = {
  readonly change: Change;
  /** Signed change that the Master has to mirror. */
  readonly flow: bigint;
  /** What has left the pool at once and whose units follow at the next strike. */
  readonly unredeemed: bigint;
};

/**
 * External funds on an Investor in a pool becomes a flow of its own: what came joins the pool by the next mirror, what was
 * taken leaves it. No fee is fixed by it, and what was earned stays as it was. Undefined when more was taken than works in
 * the pool.
 */
export function adoptExternal({ quarantined }: AccountBuckets, { pooled }: HoldingBuckets): Adoption | undefined {
  if (quarantined >= 0n) {
    return { change: { quarantined: -quarantined, inbound: quarantined }, flow: quarantined, unredeemed: 0n };
  }
  const taken = -quarantined;
  if (taken > pooled) return undefined;
  return { change: { quarantined: taken, pooled: -taken, outbound: taken }, flow: -taken, unredeemed: taken };
}
