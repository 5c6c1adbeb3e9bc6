import { Gauge } from "prom-client";
import { type Job, runJob } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { readWebhookState } from "../store/webhook-state.ts";

/** The usual interval at which Prometheus reads the metrics. */
const RUN_EVERY_MS = 15_000;

const webhooks = new Gauge({
  name: "pamm_webhooks",
  help: "Webhooks of all clients by status; failing ones are enabled, and their last attempt has failed; deferred ones have asked to be sent nothing for a while.",
  labelNames: ["status"],
});
const failing = new Gauge({
  name: "pamm_webhook_failing_seconds",
  help: "Longest time for which an endpoint that is sent events has accepted none; 0 without one.",
});
const disabledAt = new Gauge({
  name: "pamm_webhook_disabled_timestamp_seconds",
  help: "When a webhook was disabled last, of those that are; 0 without one.",
});
const waiting = new Gauge({
  name: "pamm_webhook_waiting_deliveries",
  help: "Deliveries of webhooks that wait for an attempt; beyond about a thousand of a webhook events wait by themselves.",
});
const oldest = new Gauge({
  name: "pamm_webhook_oldest_waiting_seconds",
  help: "Age of the oldest event that an endpoint which accepts others has not got; 0 without one.",
});

const STATUSES = ["enabled", "failing", "deferred", "paused", "disabled"] as const;

/** Updates the metrics of webhooks. Every replica shows the state of the tables. */
export function watchWebhooks(pool: Pool, log: Log): Job {
  const work = (): Promise<boolean> => showWebhooks(pool).then(() => false);
  return runJob({ name: "watch webhooks", everyMs: RUN_EVERY_MS, work, log });
}

export async function showWebhooks(pool: Pool): Promise<void> {
  const state = await readWebhookState(pool);
  for (const status of STATUSES) webhooks.set({ status }, state[status]);
  failing.set(state.failingSeconds);
  disabledAt.set(state.disabledAt);
  waiting.set(state.waiting);
  oldest.set(state.oldestSeconds);
}
