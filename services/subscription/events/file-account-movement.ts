import { type EntryOf, MalformedEntry } from "#kernel/feed/decode-entry.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { AccountMoved, AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { fileMovements } from "../processes/filing/file-movements.ts";
import { movementOf, resultOf } from "../messages/movement.ts";
import type { Deps } from "../deps.ts";

export const MOVEMENT_FEED = "platform.movements";

/** Files what platform tells. Nothing is called from here: jobs act on the rows that it leaves. */
export function fileAccountMovement(deps: Pick<Deps, "now" | "wakeSignals" | "log">) {
  return {
    feed: MOVEMENT_FEED,
    events: [AccountMoved],
    async receive(tx: Transaction, entries: readonly EntryOf<typeof AccountMoved>[]): Promise<void> {
      for (const entry of entries) understandable(entry);
      await fileMovements(
        tx,
        deps,
        entries.map(({ message }) => message),
      );
    },
  };
}

/** What cannot be read stops the feed before that entry, with its bytes kept, and files nothing of it. */
function understandable({ number, message }: EntryOf<typeof AccountMoved>): void {
  try {
    movementOf(message);
    if (message.kind === MovementKind.TRADE && message.role === AccountRole.MASTER) resultOf(message);
  } catch (error) {
    throw new MalformedEntry(number, error instanceof Error ? error.message : String(error));
  }
}
