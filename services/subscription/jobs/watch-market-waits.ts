import { Gauge } from "prom-client";
import { type Job, runJob } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { countMarketWaits } from "../store/market-waits.ts";

/** The usual interval at which Prometheus reads the metrics. */
const RUN_EVERY_MS = 15_000;

const waiting = new Gauge({
  name: "pamm_market_waits",
  help: "Masters with money that waits for free margin or for a price of their open positions, and pools in deficit.",
  labelNames: ["reason"],
});

/** Updates the metric of Masters whose money waits for the market. A deal, a price, a flat Master or the broker's compensation ends each. */
export function watchMarketWaits({ pool, log }: { readonly pool: Pool; readonly log: Log }): Job {
  const work = async (): Promise<boolean> => {
    for (const [reason, count] of Object.entries(await countMarketWaits(pool))) waiting.set({ reason }, count);
    return false;
  };
  return runJob({ name: "watch market waits", everyMs: RUN_EVERY_MS, work, log });
}
