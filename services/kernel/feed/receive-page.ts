import assert from "node:assert/strict";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { EventType } from "../contract/event.ts";
import type { Pool } from "../postgres/pool.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import { type Cursor, keepPoison, lockCursor, moveCursor } from "./cursor.ts";
import { decodeEntry, type EntryOf, MalformedEntry } from "./decode-entry.ts";

/** What a service does with a feed of another service. */
export type Receiver<Event extends EventType<unknown>> = {
  readonly feed: string;
  /** Every message that the feed may carry. */
  readonly events: readonly Event[];
  /**
   * Stores what follows from the entries, in the transaction that moves the cursor; calls no other process. Each entry
   * comes once and in order; a throw stores nothing and is retried, MalformedEntry stops the feed before that entry.
   */
  readonly receive: (tx: Transaction, entries: readonly EntryOf<Event>[]) => Promise<void>;
};

export type Page = {
  /** The cursor after which the entries were read. */
  readonly after: Cursor;
  readonly entries: readonly FeedEntry[];
};

export type PageResult = {
  readonly cursor: Cursor;
  /** Another replica had moved the cursor, so the page was dropped. */
  readonly isOvertaken: boolean;
  /** Set when the feed must stop before an entry. */
  readonly malformed?: MalformedEntry;
};

/** Stores a page and moves the cursor in one transaction. The bytes of a malformed entry are kept. */
export async function receivePage<Event extends EventType<unknown>>(
  pool: Pool,
  receiver: Receiver<Event>,
  page: Page,
): Promise<PageResult> {
  try {
    return await inTransaction(pool, (tx) => receiveAfter(tx, receiver, page));
  } catch (error) {
    const malformed = error instanceof MalformedEntry ? error : undefined;
    const entry = page.entries.find(({ number }) => number === malformed?.number);
    if (malformed === undefined || entry === undefined) throw error;
    const before = page.entries.filter(({ number }) => number < entry.number);
    const result = await receivePage(pool, receiver, { ...page, entries: before });
    await keepPoison(pool, receiver.feed, entry, malformed.message);
    return { malformed, ...result };
  }
}

/** A page that was read before another replica moved the cursor is dropped; the next read follows the new cursor. */
async function receiveAfter<Event extends EventType<unknown>>(
  tx: Transaction,
  { feed, events, receive }: Receiver<Event>,
  { after, entries }: Page,
): Promise<PageResult> {
  const cursor = await lockCursor(tx, feed);
  const isOvertaken = cursor.number !== after.number || cursor.id !== after.id;
  const last = entries.at(-1);
  if (last === undefined || isOvertaken) return { cursor, isOvertaken };
  const hasGap = entries.some(({ number }, index) => number !== after.number + BigInt(index + 1));
  assert(!hasGap, `${feed} was read with a gap after ${after.number}`);
  await receive(
    tx,
    entries.map((entry) => decodeEntry(events, entry)),
  );
  await moveCursor(tx, feed, last);
  return { cursor: { number: last.number, id: last.id }, isOvertaken };
}
