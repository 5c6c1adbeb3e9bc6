import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { execute, one, type Queryable, sql } from "../postgres/query.ts";
import type { Transaction } from "../postgres/transaction.ts";

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
export async function lockCursor(tx: Transaction, feed: string): Promise<Cursor> {
  return one<Cursor>(tx, sql`select number, entry_id as id from feed_cursor where feed = ${feed} for update`);
}

export async function moveCursor(tx: Transaction, feed: string, { number, id }: Cursor): Promise<void> {
  await one(
    tx,
    sql`update feed_cursor
        set number = ${number}, entry_id = ${id}, moved_at = clock_timestamp()
        where feed = ${feed}
        returning feed`,
  );
}

/** Keeps the bytes of an entry that could not be decoded. */
export async function keepPoison(db: Queryable, feed: string, entry: FeedEntry, reason: string): Promise<void> {
  await execute(
    db,
    sql`insert into feed_poison (feed, number, entry_id, type, payload, reason)
        values (${feed}, ${entry.number}, ${entry.id}, ${entry.type}, ${entry.payload}, ${reason})
        on conflict do nothing`,
  );
}
