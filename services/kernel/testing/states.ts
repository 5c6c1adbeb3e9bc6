import { StateChanged } from "#proto/pamm/common/v1/state.ts";
import type { Pool } from "../postgres/pool.ts";
import { stateReader } from "../states/read-states.ts";

/** Everything that the edge can read of the states of a service. */
export async function statesOf(pool: Pool, feed: string): Promise<StateChanged[]> {
  const { entries } = await stateReader(pool, feed).read({ feed, afterNumber: 0n, afterId: 0n, limit: 500 });
  return entries.map(({ payload }) => StateChanged.decode(payload));
}
