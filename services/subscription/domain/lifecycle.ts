/**
 * ASSIGNING and ABORTED are internal: callers do not see a subscription that has not begun. All transitions, each made by a compare-and-set
 * on the row: ASSIGNING becomes ACTIVE when its capital is inbound, or ABORTED when it was refused or not decided before its deadline;
 * ACTIVE becomes PAUSED when the Investor has left the pool, and PAUSED CANCELLED when all buckets of its holding are 0.
 */
export type SubscriptionStatus = "ASSIGNING" | "ACTIVE" | "PAUSED" | "CANCELLED" | "ABORTED";

export const VISIBLE_STATUSES = ["ACTIVE", "PAUSED", "CANCELLED"] as const satisfies readonly SubscriptionStatus[];
export type VisibleStatus = (typeof VISIBLE_STATUSES)[number];

/** An Investor has at most one subscription with one of these statuses. */
export const OPEN_STATUSES = ["ASSIGNING", "ACTIVE", "PAUSED"] as const satisfies readonly SubscriptionStatus[];

/** The Investor's capital is in the Master's pool. */
export function isInPool(status: SubscriptionStatus): boolean {
  return status === "ACTIVE";
}

/** Key of an exit; all its tries share it. */
export function exitKey(subscriptionId: bigint): string {
  return `subscription:exit:${subscriptionId}`;
}

/** The subscription of a key of an exit or of one of its transfers; undefined for other keys. */
export function leftByKey(key: string): bigint | undefined {
  const [, ofExit, ofTransfer] = /^(?:subscription:exit:(\d{1,18})|exit:(\d{1,18}):\d+)$/.exec(key) ?? [];
  const id = ofExit ?? ofTransfer;
  return id === undefined ? undefined : BigInt(id);
}
