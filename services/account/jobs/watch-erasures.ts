import { Gauge } from "prom-client";
import { type Job, runJob } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { readOpenErasures } from "../store/erasures.ts";

/** The usual interval at which Prometheus reads the metrics. */
const RUN_EVERY_MS = 15_000;

const open = new Gauge({
  name: "pamm_erasures_open",
  help: "Erasures of personal data that the trading platform has not confirmed.",
});
const oldestSeconds = new Gauge({
  name: "pamm_erasure_oldest_open_seconds",
  help: "Time since the oldest of them was requested; 0 without one.",
});

/** Updates the metrics of erasures. Every replica shows the state of the table. */
export function watchErasures({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  const work = (): Promise<boolean> => showErasures(pool).then(() => false);
  return runJob({ name: "watch erasures", everyMs: RUN_EVERY_MS, work, log });
}

export async function showErasures(pool: Pool): Promise<void> {
  const { count, seconds } = await readOpenErasures(pool);
  open.set(count);
  oldestSeconds.set(seconds);
}
