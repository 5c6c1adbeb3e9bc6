import { publish } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { FollowingChanged } from "#proto/pamm/subscription/v1/events.ts";

/** Other services keep which Master each Investor follows. */
export const FOLLOWING_FEED = "subscription.followings";

/** Publish it in the transaction that begins or ends an ACTIVE subscription; `masterLogin` is empty at the end. */
export function publishFollowing(tx: Transaction, message: FollowingChanged): void {
  publish(tx, { feed: FOLLOWING_FEED, event: FollowingChanged, message });
}
