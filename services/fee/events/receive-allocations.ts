import type { EntryOf } from "#kernel/feed/decode-entry.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { ResultAllocated, WeekClosed } from "#proto/pamm/subscription/v1/events.ts";
import type { Deps } from "../deps.ts";
import { raiseWatermarks } from "../store/allocation-watermarks.ts";

export const ALLOCATION_FEED = "subscription.allocations";

/** Raises the allocation watermark of each Master and wakes the reader. The entries are read from subscription, gapless by Master. */
export function receiveAllocations({ wakeSignals }: Pick<Deps, "wakeSignals">) {
  return {
    feed: ALLOCATION_FEED,
    events: [ResultAllocated, WeekClosed],
    async receive(
      tx: Transaction,
      entries: readonly EntryOf<typeof ResultAllocated | typeof WeekClosed>[],
    ): Promise<void> {
      const received = new Map<string, bigint>();
      for (const { message } of entries) {
        const known = received.get(message.masterLogin) ?? 0n;
        if (message.masterNumber > known) received.set(message.masterLogin, message.masterNumber);
      }
      await raiseWatermarks(tx, received);
      afterCommit(tx, wakeSignals.reading.notify);
    },
  };
}
