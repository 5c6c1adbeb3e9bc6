import type { Pool } from "../postgres/pool.ts";
import { execute, type Queryable, sql } from "../postgres/query.ts";

/**
 * A reader that has not received older entries cannot continue, so this is longer than any outage, and longer than a month,
 * the age of the oldest backup from which a reader is restored. JetStream keeps its messages for 14 days.
 */
export const RETENTION_DAYS = 35;
/** Keeps the transaction, and with it the locks, short. */
const DELETION_BATCH = 1_000;

/** Deletes the next old entries of each feed. True when there may be more at once. */
export async function deleteOldEntries(pool: Pool, feeds: readonly string[]): Promise<boolean> {
  let deleted = 0;
  for (const feed of feeds) deleted += await deleteOldest(pool, feed, DELETION_BATCH);
  return deleted > 0;
}

/**
 * Deletes from the lowest number on, so that no gap arises. The first entry that is young, not forwarded or the
 * last one of the batch stays, and so does the entry before it: a reader that has received all old entries has its cursor
 * there, and must find it. Any replica may do this at any time.
 */
export async function deleteOldest(db: Queryable, feed: string, limit: number): Promise<number> {
  return execute(
    db,
    sql`delete from outbox
        where feed = ${feed} and number < (
          select coalesce(min(case when must_stay then number end), max(number)) - 1
          from (
            select number,
                   published_at > clock_timestamp() - ${RETENTION_DAYS} * interval '1 day'
                     or (subject is not null and forwarded_at is null) as must_stay
            from outbox
            where feed = ${feed}
            order by number
            limit ${limit}
          ) as oldest
        )`,
  );
}
