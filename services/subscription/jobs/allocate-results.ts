import { allocateResults as allocate } from "../processes/allocate/allocate-results.ts";
import type { Deps } from "../deps.ts";
import { listMastersToAllocate } from "../store/results.ts";

const MASTERS_PER_ROUND = 50;
const AT_ONCE = 2;

/** Splits what Masters have earned or lost among those who work in their pools. */
export async function allocateResults(deps: Deps): Promise<boolean> {
  const masters = await listMastersToAllocate(deps.pool, deps.week, MASTERS_PER_ROUND);
  let hasMore = false;
  for (let next = 0; next < masters.length; next += AT_ONCE) {
    const more = await Promise.all(masters.slice(next, next + AT_ONCE).map((login) => allocateOne(deps, login)));
    hasMore ||= more.some(Boolean);
  }
  return hasMore || masters.length === MASTERS_PER_ROUND;
}

/** A Master whose results cannot be split stops no other. */
async function allocateOne(deps: Deps, login: string): Promise<boolean> {
  try {
    return await allocate(deps, login);
  } catch (error) {
    deps.log.error("the results of a Master could not be split", { login, error });
    return false;
  }
}
