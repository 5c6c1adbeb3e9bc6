import { type EntryOf, readEntry } from "#kernel/feed/decode-entry.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Money } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { InvestorRegistered, MasterChanged } from "#proto/pamm/account/v1/events.ts";
import { addInvestors, saveFollowings, saveMasters } from "../store/investor-facts.ts";
import { FollowingChanged } from "#proto/pamm/subscription/v1/events.ts";

type Entry = EntryOf<typeof InvestorRegistered | typeof MasterChanged>;

/** Keeps which Investors exist, and the minimum deposit of each Master. */
export const DIRECTORY = {
  feed: "account.directory",
  events: [InvestorRegistered, MasterChanged],
  async receive(tx: Transaction, entries: readonly Entry[]): Promise<void> {
    const investors: string[] = [];
    const minimums = new Map<string, Money>();
    for (const entry of entries) {
      if (entry.type === InvestorRegistered.$type) investors.push(entry.message.login);
      else minimums.set(entry.message.login, minimumOf(entry));
    }
    if (investors.length > 0) await addInvestors(tx, investors);
    const masters = Array.from(minimums, ([login, minDeposit]) => ({ login, minDeposit }));
    if (masters.length > 0) await saveMasters(tx, masters);
  },
};

function minimumOf({ number, message }: EntryOf<typeof MasterChanged>): Money {
  return readEntry(number, () => moneyFromProto(message.minDeposit, "min_deposit"));
}

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
