import type { EntryOf } from "#kernel/feed/decode-entry.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { FollowingChanged } from "#proto/pamm/subscription/v1/events.ts";
import { saveFollowings } from "../store/investor-facts.ts";

/** Keeps which Master each Investor follows. */
export const FOLLOWINGS = {
  feed: "subscription.followings",
  events: [FollowingChanged],
  async receive(tx: Transaction, entries: readonly EntryOf<typeof FollowingChanged>[]): Promise<void> {
    const last = new Map(entries.map(({ message }) => [message.investorLogin, message.masterLogin]));
    const followings = Array.from(last, ([login, master]) => ({
      login,
      masterLogin: master === "" ? undefined : master,
    }));
    await saveFollowings(tx, followings);
  },
};
