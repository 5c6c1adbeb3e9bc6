import { Gauge } from "prom-client";
import { type Job, runJob } from "../job.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Queryable } from "../postgres/query.ts";
import type { QueueAges } from "./queue-ages.ts";

/** The usual interval at which Prometheus reads the metrics. */
const RUN_EVERY_MS = 15_000;

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["command"] });

const waiting = gauge(
  "pamm_queued_commands",
  "Commands that wait until their Master is flat, or are being tried because it is.",
);
const oldest = gauge("pamm_queued_commands_oldest_seconds", "Age of the oldest of them; 0 without one.");
const overdue = gauge(
  "pamm_queued_commands_overdue_seconds",
  "Longest time for which one of them is still open although its Master is flat; 0 without one.",
);

export type WatchQueueOptions = {
  readonly pool: Pool;
  readonly log: Log;
  readonly command: "withdraw" | "unassign";
  readonly readQueue: (db: Queryable) => Promise<QueueAges>;
};

/** Updates the metrics of the commands that wait. Every replica shows the state of the table. */
export function watchQueue({ pool, log, command, readQueue }: WatchQueueOptions): Job {
  const work = async (): Promise<boolean> => {
    const ages = await readQueue(pool);
    waiting.set({ command }, ages.waiting);
    oldest.set({ command }, ages.oldestSeconds);
    overdue.set({ command }, ages.overdueSeconds);
    return false;
  };
  return runJob({ name: "watch queued commands", everyMs: RUN_EVERY_MS, work, log });
}
