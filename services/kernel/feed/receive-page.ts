import assert from "node:assert/strict";
import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { EventType } from "../contract/event.ts";
import type { Pool } from "../postgres/pool.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import { execute, one, type Queryable, sql } from "../postgres/query.ts";

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

type PageResult = {
  /** After the page; where another replica had moved it to when the page was dropped. */
  readonly cursor: Cursor;
  /** Set when the feed must stop before an entry. */
  readonly malformed?: MalformedEntry;
};

/** Stores a page, or what is before its first malformed entry, and moves the cursor in one transaction. */
export async function receivePage<Event extends EventType<unknown>>(
  pool: Pool,
  receiver: Receiver<Event>,
  page: Page,
): Promise<PageResult> {
  try {
    return await inTransaction(pool, (tx) => receiveAfter(tx, receiver, page));
  } catch (error) {
    if (!(error instanceof MalformedEntry)) throw error;
    const before = page.entries.filter(({ number }) => number < error.number);
    if (before.length === page.entries.length) throw error;
    return { malformed: error, ...(await receivePage(pool, receiver, { ...page, entries: before })) };
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
  if (last === undefined || isOvertaken) return { cursor };
  const hasGap = entries.some(({ number }, index) => number !== after.number + BigInt(index + 1));
  assert(!hasGap, `${feed} was read with a gap after ${after.number}`);
  await receive(
    tx,
    entries.map((entry) => decodeEntry(events, entry)),
  );
  await moveCursor(tx, feed, last);
  return { cursor: { number: last.number, id: last.id } };
}

/** The last entry of a feed that was received, by number and by identity; both 0 to begin. */
export type Cursor = { readonly number: bigint; readonly id: bigint };

export async function insertCursor(db: Queryable, feed: string): Promise<void> {
  await execute(
    db,
    sql`insert into feed_cursor (feed, number, entry_id) values (${feed}, 0, 0) on conflict (feed) do nothing`,
  );
}

export async function getCursor(db: Queryable, feed: string): Promise<Cursor> {
  return one<Cursor>(db, sql`select number, entry_id as id from feed_cursor where feed = ${feed}`);
}

/** Locked until commit, so that the replicas of a service receive one after the other. */
async function lockCursor(tx: Transaction, feed: string): Promise<Cursor> {
  return one<Cursor>(tx, sql`select number, entry_id as id from feed_cursor where feed = ${feed} for update`);
}

async function moveCursor(tx: Transaction, feed: string, { number, id }: Cursor): Promise<void> {
  await one(
    tx,
    sql`update feed_cursor
        set number = ${number}, entry_id = ${id}, moved_at = clock_timestamp()
        where feed = ${feed}
        returning feed`,
  );
}

/** An entry as its consumer receives it; `type` distinguishes the messages of a feed. */
type ReceivedEntry<Message, Name extends string> = {
  readonly number: bigint;
  readonly id: bigint;
  readonly publishedAt: Date;
  readonly requestId: string;
  readonly type: Name;
  readonly message: Message;
};

/** The union of the entries of a feed that carries these events. */
export type EntryOf<Event> = Event extends EventType<infer Message, infer Name> ? ReceivedEntry<Message, Name> : never;

/** Thrown by a consumer that cannot use an entry, for example a Money without a currency. */
export class MalformedEntry extends Error {
  override readonly name = "MalformedEntry";
  readonly number: bigint;

  constructor(number: bigint, reason: string) {
    super(reason);
    this.number = number;
  }
}

/** Throws MalformedEntry when the entry cannot be decoded. */
function decodeEntry<Event extends EventType<unknown>>(events: readonly Event[], entry: FeedEntry): EntryOf<Event> {
  const { number, id, type, publishedAt, requestId } = entry;
  const event = events.find(({ $type }) => $type === type);
  if (event === undefined) throw new MalformedEntry(number, `unknown type ${type}`);
  if (publishedAt === undefined) throw new MalformedEntry(number, "no publication time");
  const message = readEntry(number, () => event.decode(entry.payload), `not a ${event.$type}: `);
  return { number, id, publishedAt, requestId, type, message } as EntryOf<Event>;
}

/** What `read` finds in an entry; MalformedEntry where it throws. */
export function readEntry<T>(number: bigint, read: () => T, prefix = ""): T {
  try {
    return read();
  } catch (error) {
    throw new MalformedEntry(number, `${prefix}${error instanceof Error ? error.message : String(error)}`);
  }
}
