import { type EntryOf, readEntry } from "#kernel/feed/receive-page.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { AccountMoved, AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { fileMovements, type FilingDeps } from "../processes/filing/file-movements.ts";
import { movementOf, resultOf } from "../messages/movement.ts";

export const MOVEMENT_FEED = "platform.movements";

/** Files the movements that platform publishes. Calls no other service: jobs process the rows that it leaves. */
export function fileAccountMovement(deps: FilingDeps) {
  return {
    feed: MOVEMENT_FEED,
    events: [AccountMoved],
    async receive(tx: Transaction, entries: readonly EntryOf<typeof AccountMoved>[]): Promise<void> {
      for (const entry of entries) checkReadable(entry);
      await fileMovements(
        tx,
        deps,
        entries.map(({ message }) => message),
      );
    },
  };
}

/** A malformed entry stops the feed before it: its bytes are kept, and nothing of it is filed. */
function checkReadable({ number, message }: EntryOf<typeof AccountMoved>): void {
  readEntry(number, () => {
    movementOf(message);
    if (message.kind === MovementKind.TRADE && message.role === AccountRole.MASTER) resultOf(message);
  });
}
