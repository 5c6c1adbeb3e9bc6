import { later } from "#kernel/retry.ts";
import { markMaster, waitAfterCutOff } from "../processes/allocate/mark-master.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { lastCutOff } from "../domain/weeks.ts";
import { listPoolsToStrike, listWeeksToClose } from "../store/marking.ts";

/** Masters of one run, all read from the trading platform at the same time. */
const MASTERS_PER_RUN = 16;

/** Closes the weeks that ended long enough ago for each of their deals to be received. */
export async function closeWeeks(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const cutOff = lastCutOff(deps.week, later(now, -waitAfterCutOff(deps.week)));
  const masters = await listWeeksToClose(deps.pool, { cutOff, now, limit: MASTERS_PER_RUN });
  await Promise.all(masters.map((login) => markMaster(deps, login, jobContext())));
  return masters.length === MASTERS_PER_RUN;
}

/** Issues units for money that has reached the Master, at its marks just after, and redeems the units of outflows. */
export async function strikeWaitingFlows(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const due = { cutOff: lastCutOff(deps.week, now), now, limit: MASTERS_PER_RUN };
  const pools = await listPoolsToStrike(deps.pool, due);
  await Promise.all(pools.map((login) => markMaster(deps, login, jobContext())));
  return pools.length === MASTERS_PER_RUN;
}
