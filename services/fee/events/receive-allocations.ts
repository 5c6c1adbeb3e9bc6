import type { EntryOf } from "#kernel/feed/decode-entry.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { ResultAllocated, WeekClosed } from "#proto/pamm/subscription/v1/events.ts";
import type { Deps } from "../deps.ts";
import { hearOf } from "../store/allocation-watermarks.ts";

export const ALLOCATION_FEED = "subscription.allocations";

/** Wakes the reading of a Master. What happened is read where it is numbered by Master. */
export function receiveAllocations({ now, wakeSignals }: Pick<Deps, "now" | "wakeSignals">) {
  return {
    feed: ALLOCATION_FEED,
    events: [ResultAllocated, WeekClosed],
    async receive(
      tx: Transaction,
      entries: readonly EntryOf<typeof ResultAllocated | typeof WeekClosed>[],
    ): Promise<void> {
      const heard = new Map<string, bigint>();
      for (const { message } of entries) {
        const known = heard.get(message.masterLogin) ?? 0n;
        if (message.masterNumber > known) heard.set(message.masterLogin, message.masterNumber);
      }
      await hearOf(tx, heard, now());
      afterCommit(tx, wakeSignals.reading.notify);
    },
  };
}
