import { type Fragment, fragment } from "../postgres/query.ts";

/** Of the commands of one kind that wait until a Master is flat, or are being tried because it is. */
export type QueueAges = {
  readonly waiting: number;
  /** Age of the oldest one that is open. */
  readonly oldestSeconds: number;
  /** How long the Master of an open one has been flat. */
  readonly overdueSeconds: number;
};

/** Seconds since the earliest of these instants; 0 without one. */
export function longestSince(instant: Fragment): Fragment {
  return fragment`greatest(extract(epoch from clock_timestamp() - coalesce(min(${instant}), clock_timestamp())), 0)::float8`;
}
