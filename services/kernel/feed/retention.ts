import { execute, type Queryable, sql } from "../postgres/query.ts";
import type { RetentionRule } from "../retention/table-rule.ts";

/** Removes the entries of one feed, oldest first; the number of the next one is the cursor, so none is stored. */
export function feedRule(feed: string, keptMs: number): RetentionRule {
  return {
    name: `events ${feed}`,
    tables: ["outbox"],
    keptMs,
    async removeNext(db, { before, maxRows }) {
      const count = await deleteOldest(db, feed, { before, limit: maxRows });
      return { count, cursor: [], endsPass: count === 0 };
    },
  };
}

/**
 * Deletes from the lowest number on, so that no gap arises. The first entry that is young, not forwarded or the
 * last one of the batch stays, and so does the entry before it: a reader that has received all old entries has its cursor
 * there, and must find it. Any replica may do this at any time.
 */
export async function deleteOldest(
  db: Queryable,
  feed: string,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<number> {
  return execute(
    db,
    sql`delete from outbox
        where feed = ${feed} and number < (
          select coalesce(min(case when must_stay then number end), max(number)) - 1
          from (
            select number, published_at >= ${before} or (subject is not null and forwarded_at is null) as must_stay
            from outbox
            where feed = ${feed}
            order by number
            limit ${limit}
          ) as oldest
        )`,
  );
}
