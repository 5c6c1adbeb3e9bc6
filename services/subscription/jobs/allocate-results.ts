import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { openLedger, saveLedger } from "../processes/allocate/ledger.ts";
import { lockMaster } from "../store/masters.ts";
import { listMastersToAllocate } from "../store/results.ts";

/** Masters of one run, of which two are allocated at a time: each commit occupies a connection for thousands of rows. */
const MASTERS_PER_RUN = 50;
const AT_ONCE = 2;

/** Allocates the results of Masters to the Investors in their pools. */
export async function allocateResults(deps: Deps): Promise<boolean> {
  const masters = await listMastersToAllocate(deps.pool, deps.week, MASTERS_PER_RUN);
  let hasMore = false;
  for (let next = 0; next < masters.length; next += AT_ONCE) {
    const more = await Promise.all(masters.slice(next, next + AT_ONCE).map((login) => tryToAllocate(deps, login)));
    hasMore ||= more.some(Boolean);
  }
  return hasMore || masters.length === MASTERS_PER_RUN;
}

/** A failure on one Master does not stop the others. */
async function tryToAllocate(deps: Deps, login: string): Promise<boolean> {
  try {
    return await allocateMaster(deps, login);
  } catch (error) {
    deps.log[retryLevel(error)]("results of Master not allocated, retry scheduled", { login, error });
    return false;
  }
}

/** Allocates the waiting deals of a Master in their order, as far as its weeks are closed. True when more wait. */
export async function allocateMaster(deps: Deps, login: string): Promise<boolean> {
  const hasMore = await inTransaction(deps.pool, async (tx) => {
    const master = await lockMaster(tx, login);
    if (master === undefined || master.stoppedReason !== null) return false;
    const { ledger, end } = await openLedger(tx, deps, master);
    await saveLedger(tx, deps, ledger);
    return end === "full";
  });
  failpoint("after_allocation");
  return hasMore;
}
