import type { Fragment } from "#kernel/postgres/query.ts";
import { later } from "#kernel/jobs/retry.ts";
import { lastToClose, markMaster, valueMaster, waitAfterCutOff } from "../processes/allocate/mark-master.ts";
import { jobContext } from "../processes/deadlines.ts";
import type { Deps } from "../deps.ts";
import { lastCutOff } from "../domain/weeks.ts";
import {
  claimPoolsToValue,
  listPoolsToStrike,
  listWeeksToClose,
  nextStrike,
  nextWeekToClose,
} from "../store/marking.ts";

/** Masters of one run, all read from the trading platform at the same time, with the same requests. */
const MASTERS_PER_RUN = 64;

/** Closes the weeks that ended long enough ago for each of their deals to be received. */
export async function closeWeeks(deps: Deps): Promise<boolean> {
  const masters = await listWeeksToClose(deps.pool, {
    cutOff: lastToClose(deps.week, deps.now()),
    limit: MASTERS_PER_RUN,
  });
  await Promise.all(masters.map((login) => markMaster(deps, login, jobContext())));
  return masters.length === MASTERS_PER_RUN;
}

/** Issues units for money that has reached the Master, at its marks just after, and redeems the units of outflows. */
export async function strikeWaitingFlows(deps: Deps): Promise<boolean> {
  const cutOff = lastCutOff(deps.week, deps.now());
  const pools = await listPoolsToStrike(deps.pool, { cutOff, limit: MASTERS_PER_RUN });
  await Promise.all(pools.map((login) => markMaster(deps, login, jobContext())));
  return pools.length === MASTERS_PER_RUN;
}

/**
 * Values the pools of Masters with open positions, for their track record. Those that cannot be read are tried again when their claim
 * ends, and have a gap until then.
 */
export async function valuePools(deps: Deps): Promise<boolean> {
  const pools = await claimPoolsToValue(deps.pool, MASTERS_PER_RUN);
  const ended = await Promise.allSettled(pools.map((login) => valueMaster(deps, login, jobContext())));
  const [first, ...others] = ended.filter((each) => each.status === "rejected");
  // One line for all of a run: with the platform away there are as many as Masters.
  if (first !== undefined) {
    deps.log.info("pools not valued, retry scheduled", { count: others.length + 1, error: first.reason as unknown });
  }
  return pools.length === MASTERS_PER_RUN;
}

/** Expression: when the next week may be closed. */
export function nextClosing(deps: Deps): Fragment {
  const cutOff = lastToClose(deps.week, deps.now());
  return nextWeekToClose(cutOff, later(cutOff, deps.week.periodMs + waitAfterCutOff(deps.week)));
}

/** Expression: when the next waiting flows may be struck. */
export function nextWaitingFlows({ week, now }: Deps): Fragment {
  return nextStrike(lastCutOff(week, now()));
}
