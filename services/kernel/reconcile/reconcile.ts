import { duration } from "../config-variables.ts";
import { type Job, runJob } from "../job.ts";
import { leaseCandidate } from "../postgres/lease-candidate.ts";
import type { Check } from "./check.ts";
import { runCheck, type RunDeps } from "./run-check.ts";
import { Schedule, SHOW_EVERY_MS } from "./schedule.ts";

/** A run may take a while; a process that does not renew the lease for `ttlMs` counts as crashed. */
const LEASE = { name: "reconcile", ttlMs: 60_000, renewMs: 20_000, pollMs: 5_000 };

/** Settings of every service with checks. */
export const CHECK_SETTINGS = { PAMM_CHECK_INTERVAL: duration({ whenMissing: "PT5M" }) };

export type ReconcileOptions = RunDeps & {
  readonly checks: readonly Check[];
  /** Upper limit of the interval of every check and of each look at the lease, for example for tests. */
  readonly maxMs: number;
};

/** Runs each check at its interval, on one process of the service at a time; the others show its results. */
export function reconcile({ checks, maxMs, ...deps }: ReconcileOptions): Job {
  const { pool, log } = deps;
  const limited = checks.map((check) => ({ ...check, everyMs: Math.min(check.everyMs, maxMs) }));
  const pollMs = Math.min(LEASE.pollMs, maxMs);
  const candidate = leaseCandidate(pool, { ...LEASE, pollMs });
  const schedule = new Schedule({ pool, checks: limited, maxMs });
  /** Returns the time until the next check is due. */
  const run = async (signal: AbortSignal): Promise<number> => {
    await schedule.refresh();
    for (const check of schedule.due()) {
      if (signal.aborted) break;
      const lease = await candidate.renewOrAcquire();
      if (lease === undefined) return pollMs;
      schedule.noteStart(check);
      await runCheck(deps, check, lease);
    }
    return schedule.pauseMs();
  };
  const job = runJob({ name: LEASE.name, everyMs: SHOW_EVERY_MS, work: run, log });
  return {
    name: job.name,
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      await candidate[Symbol.asyncDispose]();
    },
  };
}
