import { Gauge } from "prom-client";
import { type Job, showRegularly } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { readQueue } from "../store/departure-queue.ts";

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

const COMMANDS = { unassign: "EXIT", withdraw: "WITHDRAWAL" } as const;

/** Updates the metrics of the commands that wait. */
export function watchQueue({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  return showRegularly("watch queued commands", log, async () => {
    for (const [command, kind] of Object.entries(COMMANDS)) {
      const ages = await readQueue(pool, kind);
      waiting.set({ command }, ages.waiting);
      oldest.set({ command }, ages.oldestSeconds);
      overdue.set({ command }, ages.overdueSeconds);
    }
  });
}
