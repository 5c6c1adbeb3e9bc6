import { duration } from "../process/config-variables.ts";
import { type Job, runJob, SHOW_EVERY_MS } from "../jobs/job.ts";
import { leaseCandidate } from "../postgres/lease.ts";
import type { Check } from "./check.ts";
import { runCheck, type RunDeps } from "./run-check.ts";
import { insertChecks, listChecks, type CheckState } from "./store.ts";
import { Gauge } from "prom-client";
import { SECOND_MS } from "../values/duration.ts";

/** A run may take a while; a process that does not renew the lease for `ttlMs` counts as crashed. */
const LEASE = { name: "reconcile", ttlMs: 60_000, renewMs: 20_000, pollMs: 5_000 };

/** Settings of every service with checks. */
export const CHECK_SETTINGS = { PAMM_CHECK_INTERVAL: duration({ whenMissing: "PT5M" }) };

type ReconcileOptions = RunDeps & {
  readonly checks: readonly Check[];
  /** Upper limit of the interval of every check and of each look at the lease, for example for tests. */
  readonly maxMs: number;
};

/**
 * Runs each check at its interval, on one process of the service at a time; the others show its results. The tables are read for the metrics,
 * because another process may have changed them; between two reads, what is due follows from the runs of this process.
 */
export function reconcile({ checks, maxMs, ...deps }: ReconcileOptions): Job {
  const { pool, log } = deps;
  const limited = checks.map((check) => ({ ...check, everyMs: Math.min(check.everyMs, maxMs) }));
  const pollMs = Math.min(LEASE.pollMs, maxMs);
  const candidate = leaseCandidate(pool, { ...LEASE, pollMs });
  /** By the monotonic clock. */
  const dueAtMs = new Map<Check, number>();
  const dueAt = (check: Check): number => dueAtMs.get(check) ?? 0;
  let showAtMs = -Infinity;
  let areInserted = false;
  const show = async (): Promise<void> => {
    const now = performance.now();
    if (!areInserted) await insertChecks(pool, limited);
    areInserted = true;
    const states = new Map((await listChecks(pool)).map((state) => [state.name, state]));
    for (const check of limited) dueAtMs.set(check, now + (states.get(check.name)?.dueInMs ?? 0));
    showChecks(limited.flatMap(({ name }) => states.get(name) ?? []));
    showAtMs = now + Math.min(SHOW_EVERY_MS, maxMs);
  };
  /** Returns the time until the next check is due, or the tables are read again. */
  const run = async (signal: AbortSignal): Promise<number> => {
    if (performance.now() >= showAtMs) await show();
    const now = performance.now();
    for (const check of limited.filter((each) => dueAt(each) <= now)) {
      if (signal.aborted) break;
      const lease = await candidate.renewOrAcquire();
      if (lease === undefined) return pollMs;
      dueAtMs.set(check, performance.now() + check.everyMs);
      await runCheck(deps, check, lease);
    }
    return Math.max(0, Math.ceil(Math.min(showAtMs, ...limited.map(dueAt)) - performance.now()));
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

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["check"] });

const openBreaks = gauge("pamm_reconciliation_open_breaks", "Breaks that are open, by check.");
const atRiskCents = gauge("pamm_reconciliation_at_risk_cents", "Money at risk in open breaks, in cents, by check.");
const oldestBreakSeconds = gauge(
  "pamm_reconciliation_oldest_break_seconds",
  "Age of the oldest open break; 0 without one.",
);
const completedAt = gauge(
  "pamm_reconciliation_completed_timestamp_seconds",
  "When the check was last complete; before its first complete run, when it was added.",
);
const fullPassAt = gauge(
  "pamm_reconciliation_full_pass_timestamp_seconds",
  "When a check that reads a part in each run last completed a pass; before its first pass, when it was added.",
);
const everySeconds = gauge("pamm_reconciliation_interval_seconds", "From one run of the check to the next.");
const failing = gauge("pamm_reconciliation_failing", "1 when the last run of the check was not complete.");

/** Every replica shows the state of the tables, whichever replica runs the checks. */
function showChecks(checks: readonly CheckState[]): void {
  for (const check of checks) {
    const labels = { check: check.name };
    openBreaks.set(labels, check.openBreaks);
    // Beyond 2^53 cents the loss of precision does not matter.
    atRiskCents.set(labels, Number(check.atRiskMinor));
    oldestBreakSeconds.set(labels, check.oldestBreakSeconds);
    completedAt.set(labels, (check.completedAt ?? check.knownAt).getTime() / SECOND_MS);
    fullPassAt.set(labels, (check.fullPassAt ?? check.knownAt).getTime() / SECOND_MS);
    everySeconds.set(labels, Number(check.everyMs) / SECOND_MS);
    failing.set(labels, check.error === "" ? 0 : 1);
  }
}
