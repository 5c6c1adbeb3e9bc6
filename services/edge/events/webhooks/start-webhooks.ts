import { Gauge } from "prom-client";
import { showRegularly } from "#kernel/jobs/job.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Secret } from "#kernel/values/secret.ts";
import { readWebhookState } from "../store/webhook-deliveries.ts";
import { deliverWebhooks, type DeliverOptions } from "./deliver.ts";
import { createSecretCipher, encryptSecretsAgain } from "./secret-cipher.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

type StartOptions = Omit<DeliverOptions, "cipher"> & Record<"key" | "oldKey", Secret<Buffer> | undefined>;

/** Without a key nothing is sent, and no webhook can be created. */
export function startWebhooks(stack: AsyncDisposableStack, { key, oldKey, ...options }: StartOptions): Webhooks {
  const { pool, log } = options;
  stack.use(showRegularly("watch webhooks", log, () => showWebhooks(pool)));
  if (key === undefined) return openWebhooks(pool, undefined);
  const cipher = createSecretCipher(oldKey === undefined ? [key] : [key, oldKey]);
  stack.use(encryptSecretsAgain(pool, cipher, log));
  stack.use(deliverWebhooks({ ...options, cipher }));
  return openWebhooks(pool, cipher);
}

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

/** Every replica shows the state of the tables. */
async function showWebhooks(pool: Pool): Promise<void> {
  const state = await readWebhookState(pool);
  for (const status of STATUSES) webhooks.set({ status }, state[status]);
  failing.set(state.failingSeconds);
  disabledAt.set(state.disabledAt);
  waiting.set(state.waiting);
  oldest.set(state.oldestSeconds);
}
