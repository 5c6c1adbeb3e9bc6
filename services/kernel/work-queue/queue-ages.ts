import { type Fragment, fragment, one, type Queryable, sql } from "../postgres/query.ts";

/** Of the commands of one kind that wait until a Master is flat, or are being tried because it is. */
export type QueueAges = {
  readonly waiting: number;
  /** Age of the oldest one that is open. */
  readonly oldestSeconds: number;
  /** How long the Master of an open one has been flat. */
  readonly overdueSeconds: number;
};

/** `open` selects of each when it was requested, and since when its Master is flat. */
export async function readQueueAges(db: Queryable, open: Fragment): Promise<QueueAges> {
  return await one<QueueAges>(
    db,
    sql`select count(*)::int as waiting, ${longestSince(fragment`requested_at`)} as "oldestSeconds",
               ${longestSince(fragment`ready_at`)} as "overdueSeconds"
        from (${open}) as open (requested_at, ready_at)`,
  );
}

/** Seconds since the earliest of these instants; 0 without one. */
function longestSince(instant: Fragment): Fragment {
  return fragment`greatest(extract(epoch from clock_timestamp() - coalesce(min(${instant}), clock_timestamp())), 0)::float8`;
}
