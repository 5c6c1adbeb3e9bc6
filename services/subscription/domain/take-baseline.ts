import type { AccountBuckets, Change } from "./buckets.ts";

/**
 * The Investor joins the pool with the held balance. Any other amount in the outside bucket, of either sign, came after
 * the account lock was acquired: the service could not have moved it, so it is external funds.
 */
export function takeBaseline(
  { outside }: AccountBuckets,
  heldBalance: bigint,
): { readonly account: Change; readonly inbound: bigint } {
  return { account: { outside: -outside, quarantined: outside - heldBalance }, inbound: heldBalance };
}
