import { BROKER_CALLER, type Permissions } from "../contract/permissions.ts";
import type { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { type FeedReader, feedReader } from "../feed/read.ts";
import type { Pool } from "../postgres/pool.ts";
import { publishStateChanges } from "./publish-state-changes.ts";

/** The edge reads states over the broker, and no other feed. */
export const STATE_READERS: Permissions<typeof FeedServiceService> = { read: [BROKER_CALLER] };

/** Serves the feed of states. Each read first moves there what was noted before it, so no job has to look for it. */
export function stateReader(pool: Pool, feed: string): FeedReader {
  const reader = feedReader(pool, [feed]);
  return {
    async read(request) {
      if (request.feed === feed) await publishStateChanges(pool, feed);
      return await reader.read(request);
    },
  };
}
