import { duration } from "../config-variables.ts";
import { type Job, runJob } from "../job.ts";
import { leaseCandidate } from "../postgres/lease-candidate.ts";
import type { Check } from "./check.ts";
import { showChecks } from "./metrics.ts";
import { runCheck, type RunDeps } from "./run-check.ts";
import { insertChecks, listChecks } from "./store.ts";

/** How often the intervals of the checks are examined. */
const RUN_EVERY_MS = 1_000;
/** A run may take a while; a process that does not renew the lease for `ttlMs` counts as crashed. */
const LEASE = { name: "reconcile", ttlMs: 60_000, renewMs: 5_000, pollMs: 5_000 };

/** Settings of every service with checks. */
export const CHECK_SETTINGS = { PAMM_CHECK_INTERVAL: duration({ whenMissing: "PT5M" }) };

export type ReconcileOptions = RunDeps & {
  readonly checks: readonly Check[];
  /** Upper limit of the interval of every check, for example for tests. */
  readonly maxMs: number;
};

/** Runs each check at its interval, on one process of the service at a time; the others show its results. */
export function reconcile({ checks, maxMs, ...deps }: ReconcileOptions): Job {
  const { pool, log } = deps;
  const limited = checks.map((check) => ({ ...check, everyMs: Math.min(check.everyMs, maxMs) }));
  const candidate = leaseCandidate(pool, LEASE);
  let areInserted = false;
  const run = async (signal: AbortSignal): Promise<boolean> => {
    if (!areInserted) await insertChecks(pool, limited);
    areInserted = true;
    const states = new Map((await listChecks(pool)).map((state) => [state.name, state]));
    showChecks([...states.values()].filter(({ name }) => limited.some((check) => check.name === name)));
    for (const check of limited) {
      if (signal.aborted || states.get(check.name)?.isDue !== true) continue;
      const lease = await candidate.renewOrAcquire();
      if (lease === undefined) return false;
      await runCheck(deps, check, lease);
    }
    return false;
  };
  const job = runJob({ name: LEASE.name, everyMs: Math.min(RUN_EVERY_MS, maxMs), work: run, log });
  return {
    name: job.name,
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      await candidate[Symbol.asyncDispose]();
    },
  };
}
