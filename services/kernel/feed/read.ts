import type { FeedEntry, ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import type { Pool } from "../postgres/pool.ts";
import { many, one, type Queryable, sql } from "../postgres/query.ts";
import { type Refusal, refusalsOf } from "../values/refusal.ts";

const { refuse } = refusalsOf({
  feed_not_found: "not_found",
  feed_rewound: "conflict",
  feed_truncated: "conflict",
  feed_limit_invalid: "invalid",
});

/** A reader stores a page in one transaction, under the lock of its cursor. The contract states the limit too. */
export const MAX_ENTRIES_PER_READ = 500;
/** Keeps a response far below MAX_MESSAGE_BYTES of the transport. */
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
  const { idAtCursor, firstNumber, lastNumber } = await findCursor(pool, request);
  const isAtStart = afterNumber === 0n && afterId === 0n && firstNumber <= 1n;
  if (!isAtStart && afterId !== idAtCursor) throw lostCursor(request, { firstNumber, lastNumber });
  if (lastNumber === afterNumber) return { entries: [], lastNumber };
  const entries = await listAfter(pool, request);
  return { entries, lastNumber };
}

type Range = { readonly firstNumber: bigint; readonly lastNumber: bigint };

/** Why the entry at the cursor does not exist. */
function lostCursor({ feed, afterNumber, afterId }: ReadRequest, { firstNumber, lastNumber }: Range): Refusal {
  const details = { first_number: String(firstNumber), last_number: String(lastNumber) };
  if (firstNumber > 1n && afterNumber < firstNumber) {
    const message = `Entries of ${feed} before ${firstNumber} are deleted: they were older than PAMM_RETAIN_EVENTS. A reader at ${afterNumber} has missed entries; restore its database from a backup that has read further.`;
    return refuse("feed_truncated", message, { details });
  }
  const message = `Entry ${afterNumber} of ${feed} is not ${afterId} any more: the database of the owner was restored. Compare owner and reader before the cursor is set by hand.`;
  return refuse("feed_rewound", message, { details });
}

/** The id of the entry that a reader received last, and the numbers that are there; 0 in an empty feed. */
async function findCursor(db: Queryable, { feed, afterNumber }: ReadRequest) {
  return one<Range & { readonly idAtCursor: bigint | null }>(
    db,
    sql`select (select id from outbox where feed = ${feed} and number = ${afterNumber}) as "idAtCursor",
               coalesce((select min(number) from outbox where feed = ${feed}), 0) as "firstNumber",
               coalesce((select max(number) from outbox where feed = ${feed}), 0) as "lastNumber"`,
  );
}

/** The next entries, as many as fit into one response, but at least one. */
async function listAfter(db: Queryable, { feed, afterNumber, limit }: ReadRequest): Promise<FeedEntry[]> {
  return many<FeedEntry>(
    db,
    sql`select number, id, type, payload, "publishedAt", "requestId"
        from (
          select number, id, type, payload, published_at as "publishedAt", request_id as "requestId",
                 sum(length(payload)) over (order by number) - length(payload) as bytes_before
          from (
            select number, id, type, payload, published_at, request_id
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
