import { Gauge } from "prom-client";
import { type Job, runJob } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** The usual interval at which Prometheus reads the metrics. */
const RUN_EVERY_MS = 15_000;

const open = new Gauge({ name: "pamm_closings_open", help: "Masters that are being closed." });
const oldestSeconds = new Gauge({
  name: "pamm_closings_without_progress_seconds",
  help: "Longest time in which no Investor of a Master that is being closed has left; 0 without one.",
});

/** Updates the metrics of Masters that are being closed. Every replica shows the state of the table. */
export function watchClosings({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  const work = async (): Promise<boolean> => {
    const { count, seconds } = await readClosings(pool);
    open.set(count);
    oldestSeconds.set(seconds);
    return false;
  };
  return runJob({ name: "watch closings", everyMs: RUN_EVERY_MS, work, log });
}

/** Never below 0, even when the clocks of the service and the database differ. */
export async function readClosings(db: Queryable): Promise<{ readonly count: number; readonly seconds: number }> {
  return await one(
    db,
    sql`select count(*)::int as count,
               greatest(extract(epoch from clock_timestamp() - coalesce(min(progressed_at), clock_timestamp())), 0)::float8 as seconds
        from closing
        where state = 'CLOSING'`,
  );
}
