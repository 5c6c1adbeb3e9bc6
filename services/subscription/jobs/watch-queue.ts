import { Gauge } from "prom-client";
import { type Job, runJob } from "#kernel/job.ts";
import type { Deps } from "../deps.ts";
import { readQueue } from "../store/queued-unassigns.ts";

/** The usual interval at which Prometheus reads the metrics. */
const RUN_EVERY_MS = 15_000;

const waiting = new Gauge({
  name: "pamm_queued_unassigns",
  help: "Unassigns that wait until their Master is flat, or are being tried because it is.",
});
const oldest = new Gauge({
  name: "pamm_queued_unassigns_oldest_seconds",
  help: "Age of the oldest of them; 0 without one.",
});
const overdue = new Gauge({
  name: "pamm_queued_unassigns_overdue_seconds",
  help: "Longest time for which one of them is still open although its Master is flat; 0 without one.",
});

/** Updates the metrics of unassigns that wait. Every replica shows the state of the table. */
export function watchQueue({ pool, log }: Pick<Deps, "pool" | "log">): Job {
  const work = async (): Promise<boolean> => {
    const ages = await readQueue(pool);
    waiting.set(ages.waiting);
    oldest.set(ages.oldestSeconds);
    overdue.set(ages.overdueSeconds);
    return false;
  };
  return runJob({ name: "watch queued unassigns", everyMs: RUN_EVERY_MS, work, log });
}
