import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import type { Cursor } from "./cursor.ts";

export type Continuation = {
  /** What follows the cursor without a gap; older entries are dropped. */
  readonly entries: readonly FeedEntry[];
  /** Something is missing before an entry, or an entry speaks of another history. Only reading the feed can tell. */
  readonly mustRead: boolean;
};

/** What a batch that came in any order, with repeats and holes, adds to what was filed. */
export function continuationOf(cursor: Cursor, batch: readonly FeedEntry[]): Continuation {
  if (batch.some((entry) => contradicts(cursor, entry))) return { entries: [], mustRead: true };
  const entries: FeedEntry[] = [];
  let last = cursor.number;
  for (const entry of batch.toSorted(byNumber)) {
    if (entry.number <= last) continue;
    if (entry.number !== last + 1n) return { entries, mustRead: true };
    entries.push(entry);
    last = entry.number;
  }
  return { entries, mustRead: false };
}

/** An entry that was filed long ago under a younger identity: the producer's database may have been restored. */
function contradicts(cursor: Cursor, { number, id }: FeedEntry): boolean {
  return number === cursor.number ? id !== cursor.id : number < cursor.number && id > cursor.id;
}

function byNumber(left: FeedEntry, right: FeedEntry): number {
  return left.number < right.number ? -1 : Number(left.number > right.number);
}
