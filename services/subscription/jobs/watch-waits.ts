import { Gauge } from "prom-client";
import { type Job, showRegularly } from "#kernel/jobs/job.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { readClosings } from "../store/closings.ts";
import { readQueue } from "../store/departure-queue.ts";
import { countMarketWaits } from "../store/market-waits.ts";

const waitingMasters = new Gauge({
  name: "pamm_market_waits",
  help: "Masters with money that waits for free margin or for a price of their open positions, and pools in deficit.",
  labelNames: ["reason"],
});
const closing = new Gauge({ name: "pamm_closings_open", help: "Masters that are being closed." });
const withoutProgress = new Gauge({
  name: "pamm_closings_without_progress_seconds",
  help: "Longest time in which no Investor of a Master that is being closed has left; 0 without one.",
});

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

/**
 * Updates the metrics of Masters whose money waits for the market, which a deal, a price, a flat Master or the broker's compensation ends, of those
 * that are being closed, and of the commands that wait.
 */
export function watchWaits({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  return showRegularly("watch what waits", log, async () => {
    for (const [reason, count] of Object.entries(await countMarketWaits(pool))) waitingMasters.set({ reason }, count);
    const { count, seconds } = await readClosings(pool);
    closing.set(count);
    withoutProgress.set(seconds);
    for (const [command, kind] of Object.entries(COMMANDS)) {
      const ages = await readQueue(pool, kind);
      waiting.set({ command }, ages.waiting);
      oldest.set({ command }, ages.oldestSeconds);
      overdue.set({ command }, ages.overdueSeconds);
    }
  });
}
