import { markMaster } from "../processes/allocate/mark-master.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { lastCutOff } from "../domain/weeks.ts";
import { listPoolsToStrike } from "../store/marking.ts";

const POOLS_PER_ROUND = 16;

/** Issues units for money that has reached the Master, at its marks just after, and redeems the units of outflows. */
export async function strikeWaitingFlows(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const due = { cutOff: lastCutOff(deps.week, now), now, limit: POOLS_PER_ROUND };
  const pools = await listPoolsToStrike(deps.pool, due);
  await Promise.all(pools.map((login) => markMaster(deps, login, jobContext())));
  return pools.length === POOLS_PER_ROUND;
}
