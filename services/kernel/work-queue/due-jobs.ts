import { HOUR_MS } from "../values/duration.ts";
import { type Job, runJob } from "../jobs/job.ts";
import type { Log } from "../process/log.ts";
import type { Pool } from "../postgres/pool.ts";
import { type Fragment, fragment, many, maybeOne, plannedAnew, sql } from "../postgres/query.ts";
import { createWakeSignal, type WakeSignal } from "../jobs/wake-signal.ts";

/** A job whose work is in tables, at instants that the tables know. */
export type DueJob = {
  readonly name: string;
  /** Notified after each commit that makes work, or changes when it is due. */
  readonly wake?: WakeSignal;
  /** Expression: the instant at which there is work, by the clock of the database; null without work. */
  readonly due: () => Fragment;
  /** One run. True = there is more work now. */
  readonly work: () => Promise<boolean>;
  /** Pause before the next run when a run has left due work, because it failed or another replica does it; the poll ends it. */
  readonly pauseMs?: number;
  /** Those of `runJob`. */
  readonly minGapMs?: number;
  readonly maxRetryMs?: number;
};

export type DueJobsOptions = {
  readonly pool: Pool;
  readonly log: Log;
  readonly jobs: readonly DueJob[];
  readonly pollMs?: number;
};

/** The longest delay of work whose wake-up signal was lost, or that a replica has left that crashed. */
const POLL_MS = 5_000;
const PAUSE_MS = 1_000;
/** Only bounds the timer: the poll finds work that no signal reports. */
const MAX_SLEEP_MS = HOUR_MS;

/**
 * Runs each job when it is woken, and when its next work is due. A job that has nothing to do makes no statement: one
 * statement for all of them looks for due work at every poll.
 */
export function runDueJobs({ pool, log, jobs: described, pollMs = POLL_MS }: DueJobsOptions): Job[] {
  const jobs = described.map((job) => ({ ...job, wake: job.wake ?? createWakeSignal() }));
  const running = jobs.map((job) =>
    runJob({
      name: job.name,
      everyMs: MAX_SLEEP_MS,
      wake: job.wake,
      minGapMs: job.minGapMs ?? 0,
      ...(job.maxRetryMs === undefined ? {} : { maxRetryMs: job.maxRetryMs }),
      work: async () => (await job.work()) || (await findPause(pool, job)),
      log,
    }),
  );
  const poll = async (): Promise<boolean> => {
    const due = await listDue(pool, jobs, pollMs);
    for (const { job, ms } of due) setTimeout(() => jobs[job]?.wake.notify(), Math.max(ms, 0)).unref();
    return false;
  };
  return [...running, runJob({ name: "find due work", everyMs: pollMs, work: poll, log })];
}

async function findPause(pool: Pool, { due, pauseMs = PAUSE_MS }: DueJob): Promise<number> {
  const next = await maybeOne<{ ms: number }>(
    pool,
    sql`select extract(epoch from greatest(due, clock_timestamp()) - clock_timestamp())::double precision * 1000 as ms
        from (values (${due()})) as next (due)
        where due is not null`,
  );
  if (next === undefined) return MAX_SLEEP_MS;
  return next.ms > 0 ? Math.ceil(next.ms) : pauseMs;
}

/** The jobs that have work within this time, and when. */
async function listDue(pool: Pool, jobs: readonly DueJob[], withinMs: number): Promise<{ job: number; ms: number }[]> {
  const rows = jobs.map(({ due }, index) => fragment`(${index}::integer, ${due()})`);
  return many(
    pool,
    plannedAnew(sql`select job, extract(epoch from greatest(due, clock_timestamp()) - clock_timestamp())::double precision * 1000 as ms
        from (values ${rows.reduce((left, right) => fragment`${left}, ${right}`)}) as next (job, due)
        where due < clock_timestamp() + ${withinMs} * interval '1 millisecond'`),
  );
}
