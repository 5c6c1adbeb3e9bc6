import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import type { Pool } from "../postgres/pool.ts";
import { refusalsOf } from "../refusal.ts";
import { getPlace, listAfter } from "./outbox.ts";

export const { refuse, refusals: feedRefusals } = refusalsOf({
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
  if (!feeds.includes(feed)) throw refuse("feed_not_found", `There is no feed ${feed} here.`);
  if (limit < 1 || limit > MAX_ENTRIES_PER_READ) {
    throw refuse("feed_limit_invalid", `limit must be from 1 to ${MAX_ENTRIES_PER_READ}.`);
  }
  const { idAtCursor, lastNumber } = await getPlace(pool, request);
  if ((idAtCursor ?? 0n) !== afterId) {
    throw refuse("feed_rewound", `Entry ${afterNumber} of ${feed} is not ${afterId} any more.`, {
      details: { last_number: String(lastNumber) },
    });
  }
  if (lastNumber === afterNumber) return { entries: [], lastNumber };
  const entries = await listAfter(pool, request, { entries: limit, bytes: MAX_BYTES_PER_READ });
  return { entries, lastNumber };
}
