import type { AccountBuckets, Change } from "./buckets.ts";

/**
 * The held balance is what the Investor brings into the pool. Whatever else then stands outside, of either sign, came
 * after the account lock was taken and is not ours: nobody else could have moved it.
 */
export function takeBaseline(
  { outside }: AccountBuckets,
  heldBalance: bigint,
): { readonly account: Change; readonly inbound: bigint } {
  return { account: { outside: -outside, quarantined: outside - heldBalance }, inbound: heldBalance };
}
