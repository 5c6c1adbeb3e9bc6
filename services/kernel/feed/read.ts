import type { FeedEntry, ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import type { Pool } from "../postgres/pool.ts";
import { many, one, sql } from "../postgres/query.ts";
import type { Queryable } from "../postgres/query.ts";
import { refusalsOf } from "../refusal.ts";

const { refuse } = refusalsOf({
  feed_not_found: "not_found",
  feed_rewound: "conflict",
  feed_limit_invalid: "invalid",
});

export const MAX_ENTRIES_PER_READ = 500;
/** An answer stays well below the 4 MiB that gRPC accepts, whatever the entries hold. */
const MAX_BYTES_PER_READ = 1024 * 1024;

export type FeedReader = { readonly read: (request: ReadRequest) => Promise<ReadResponse> };

/** Serves pamm.common.v1.FeedService from the outbox of a service. */
export function feedReader(pool: Pool, feeds: readonly string[]): FeedReader {
  return { read: (request) => readFeed(pool, feeds, request) };
}

async function readFeed(pool: Pool, feeds: readonly string[], request: ReadRequest): Promise<ReadResponse> {
  const { feed, afterNumber, afterId, limit } = request;
  if (!feeds.includes(feed)) throw refuse("feed_not_found", `Feed '${feed}' does not exist.`);
  if (limit < 1 || limit > MAX_ENTRIES_PER_READ) {
    throw refuse("feed_limit_invalid", `The limit must be from 1 to ${MAX_ENTRIES_PER_READ}.`);
  }
  const { idAtCursor, lastNumber } = await getPlace(pool, request);
  const isThere = afterNumber === 0n ? afterId === 0n : afterId === idAtCursor;
  if (!isThere) {
    throw refuse("feed_rewound", `Entry ${afterNumber} of ${feed} is no longer ${afterId}.`, {
      details: { last_number: String(lastNumber) },
    });
  }
  if (lastNumber === afterNumber) return { entries: [], lastNumber };
  const entries = await listAfter(pool, request);
  return { entries, lastNumber };
}

/** The id of the entry that a reader filed last, and the newest number. */
async function getPlace(db: Queryable, { feed, afterNumber }: ReadRequest) {
  return one<{ idAtCursor: bigint | null; lastNumber: bigint }>(
    db,
    sql`select (select id from outbox where feed = ${feed} and number = ${afterNumber}) as "idAtCursor",
               coalesce((select max(number) from outbox where feed = ${feed}), 0) as "lastNumber"`,
  );
}

/** The entries that follow, no more than fit into one answer, but always one. */
async function listAfter(db: Queryable, { feed, afterNumber, limit }: ReadRequest): Promise<FeedEntry[]> {
  return many<FeedEntry>(
    db,
    sql`select number, id, type, payload, "toldAt", "requestId"
        from (
          select number, id, type, payload, told_at as "toldAt", request_id as "requestId",
                 sum(length(payload)) over (order by number) - length(payload) as bytes_before
          from (
            select number, id, type, payload, told_at, request_id
            from outbox
            where feed = ${feed} and number > ${afterNumber}
            order by number
            limit ${limit}
          ) as page
        ) as measured
        where bytes_before < ${MAX_BYTES_PER_READ}
        order by number`,
  );
}
