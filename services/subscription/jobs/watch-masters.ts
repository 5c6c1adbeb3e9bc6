import { Gauge } from "prom-client";
import { type Job, showRegularly } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { readClosings } from "../store/closings.ts";
import { countMarketWaits } from "../store/market-waits.ts";

const waiting = new Gauge({
  name: "pamm_market_waits",
  help: "Masters with money that waits for free margin or for a price of their open positions, and pools in deficit.",
  labelNames: ["reason"],
});
const closing = new Gauge({ name: "pamm_closings_open", help: "Masters that are being closed." });
const withoutProgress = new Gauge({
  name: "pamm_closings_without_progress_seconds",
  help: "Longest time in which no Investor of a Master that is being closed has left; 0 without one.",
});

/**
 * Updates the metrics of Masters whose money waits for the market, which a deal, a price, a flat Master or the broker's compensation ends, and of those
 * that are being closed.
 */
export function watchMasters({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  return showRegularly("watch Masters", log, async () => {
    for (const [reason, count] of Object.entries(await countMarketWaits(pool))) waiting.set({ reason }, count);
    const { count, seconds } = await readClosings(pool);
    closing.set(count);
    withoutProgress.set(seconds);
  });
}
