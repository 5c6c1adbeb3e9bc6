import { type EntryOf, readEntry } from "#kernel/feed/receive-page.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { AccountMoved } from "#proto/pamm/platform/v1/movement.ts";
import { fileMovements, type FilingDeps } from "../processes/filing/file-movements.ts";
import { movementOf } from "../messages/movement.ts";

export const MOVEMENT_FEED = "platform.movements";

/** Files the movements that platform publishes. Calls no other service: jobs process the rows that it leaves. */
export function fileAccountMovement(deps: FilingDeps) {
  return {
    feed: MOVEMENT_FEED,
    events: [AccountMoved],
    async receive(tx: Transaction, entries: readonly EntryOf<typeof AccountMoved>[]): Promise<void> {
      // A malformed entry stops the feed before it: its bytes are kept, and nothing of it is filed.
      for (const { number, message } of entries) readEntry(number, () => movementOf(message, deps));
      await fileMovements(
        tx,
        deps,
        entries.map(({ message }) => message),
      );
    },
  };
}
