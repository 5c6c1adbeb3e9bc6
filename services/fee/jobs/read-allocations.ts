import { backOffMs, CLAIM_MS, later } from "#kernel/retry.ts";
import { readMaster } from "../processes/accounting/read-master.ts";
import { jobContext } from "../processes/job-context.ts";
import type { Deps } from "../deps.ts";
import {
  claimMastersToRead,
  endReading,
  type AllocationWatermark,
  postponeReading,
} from "../store/allocation-watermarks.ts";

/** They are read in parallel, each strictly in order. */
const MASTERS_PER_ROUND = 8;
const READING_MS = 10_000;

/** Reads the allocations of Masters of which something new was heard. One that cannot be read stops no other. */
export async function readAllocations(deps: Deps): Promise<boolean> {
  const now = deps.now();
  const claim = { now, until: later(now, CLAIM_MS), limit: MASTERS_PER_ROUND };
  const claimed = await claimMastersToRead(deps.pool, claim);
  await Promise.all(claimed.map((heard) => read(deps, heard)));
  return claimed.length === MASTERS_PER_ROUND;
}

async function read(deps: Deps, { masterLogin, tries }: AllocationWatermark): Promise<void> {
  try {
    await readMaster(deps, masterLogin, jobContext(READING_MS));
    await endReading(deps.pool, masterLogin, deps.now());
  } catch (error) {
    deps.log.warn("a Master's allocations could not be read", { login: masterLogin, attempt: tries, error });
    await postponeReading(deps.pool, masterLogin, later(deps.now(), backOffMs(tries)));
  }
}
