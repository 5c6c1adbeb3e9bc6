import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { EventType } from "../contract/event.ts";
import type { Pool } from "../postgres/pool.ts";
import { inTransaction } from "../postgres/transaction.ts";
import type { Transaction } from "../postgres/transaction.ts";
import { continuationOf } from "./continuation.ts";
import { keepPoison, lockCursor, moveCursor } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { MalformedEntry, understand } from "./understand.ts";
import type { EntryOf } from "./understand.ts";

/** What a service does with a feed of another one. */
export type Filing<Event extends EventType<unknown>> = {
  readonly feed: string;
  /** Every message that the feed may carry. */
  readonly events: readonly Event[];
  /**
   * Writes down what follows from the entries, in the transaction that moves the cursor. Calls nobody. Each entry comes
   * once and in order; a throw files nothing and is tried again, MalformedEntry stops the feed before that entry.
   */
  readonly file: (tx: Transaction, entries: readonly EntryOf<Event>[]) => Promise<void>;
};

export type FilingResult = {
  readonly cursor: Cursor;
  readonly mustRead: boolean;
  /** Set when the feed must stop before an entry. */
  readonly malformed?: MalformedEntry;
};

/** Files what continues the feed and moves the cursor, in one transaction. What is malformed is kept raw. */
export async function fileBatch<Event extends EventType<unknown>>(
  pool: Pool,
  filing: Filing<Event>,
  batch: readonly FeedEntry[],
): Promise<FilingResult> {
  try {
    return await inTransaction(pool, (tx) => fileContinuation(tx, filing, batch));
  } catch (error) {
    const malformed = error instanceof MalformedEntry ? error : undefined;
    const entry = batch.find(({ number }) => number === malformed?.number);
    if (malformed === undefined || entry === undefined) throw error;
    const before = batch.filter(({ number }) => number < entry.number);
    const result = await fileBatch(pool, filing, before);
    await keepPoison(pool, filing.feed, entry, malformed.message);
    return { malformed, ...result };
  }
}

async function fileContinuation<Event extends EventType<unknown>>(
  tx: Transaction,
  { feed, events, file }: Filing<Event>,
  batch: readonly FeedEntry[],
): Promise<FilingResult> {
  const cursor = await lockCursor(tx, feed);
  const { entries, mustRead } = continuationOf(cursor, batch);
  const last = entries.at(-1);
  if (last === undefined) return { cursor, mustRead };
  await file(
    tx,
    entries.map((entry) => understand(events, entry)),
  );
  await moveCursor(tx, feed, last);
  return { cursor: { number: last.number, id: last.id }, mustRead };
}
