import { Counter } from "prom-client";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { type Job, runJob } from "#kernel/jobs/job.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { createWakeSignal } from "#kernel/jobs/wake-signal.ts";
import { Event } from "../event.ts";
import { readTypes } from "../../fields/event-types.ts";
import { mayRead, permittedTypes } from "../readable-types.ts";
import type { StoredEvent } from "../store/events.ts";
import {
  claimDeliveries,
  type ClaimedDelivery,
  giveUp,
  markDeferred,
  markDelivered,
  markFailed,
  markGone,
  releaseDelivery,
} from "../store/webhook-attempts.ts";
import { disableWebhook, listBehind, lockCursor, makeDeliveries } from "../store/webhook-deliveries.ts";
import { hasWebhooks } from "../store/webhooks.ts";
import { jsonInteger } from "../../wire/number.ts";
import type { SecretCipher } from "./secret-cipher.ts";
import { ANSWER_WITHIN_MS, type Attempt, send } from "./send.ts";
import { signedHeaders } from "./signature.ts";

export type DeliverOptions = {
  readonly pool: Pool;
  readonly cipher: SecretCipher;
  readonly isRehearsal: boolean;
  /** Asks the services for new events. */
  readonly look: () => void;
  readonly log: Log;
  /** For tests. */
  readonly answerWithinMs?: number;
  readonly workEveryMs?: number;
};

const attempted = new Counter({
  name: "pamm_webhook_attempts_total",
  help: "Attempts to deliver an event to an endpoint of a client, by result.",
  labelNames: ["result"],
});
for (const result of ["delivered", "failed", "deferred", "gone", "given_up"]) attempted.inc({ result }, 0);

/** Without endpoints one statement looks for them. */
const LOOK_EVERY_MS = 15_000;
/** With endpoints, services are asked for new events, and retries found, at least so often. */
const WORK_EVERY_MS = 1_000;
const MIN_GAP_MS = 20;
/** Requests of a replica at the same time, and of these to one endpoint. */
const MOST_AT_ONCE = 64;
const PER_WEBHOOK = 8;
/** The rest of the events waits in their own table, however long an endpoint is away. */
const MOST_PENDING = 1_000;
const EVENTS_PER_PAGE = 200;
const WEBHOOKS_PER_RUN = 50;
/** Longer than an attempt, so that two replicas send the same event at the same time only when one stands still. */
const CLAIM_MS = ANSWER_WITHIN_MS + 15_000;

/** Sends events to the endpoints of clients. Each replica does; claims divide the work. */
export function deliverWebhooks(options: DeliverOptions): Job {
  const { pool, log, look, workEveryMs = WORK_EVERY_MS } = options;
  const stop = new AbortController();
  const wake = createWakeSignal();
  const sending = new Set<Promise<void>>();
  const start = (claimed: ClaimedDelivery): void => {
    const task = deliver(options, claimed, stop.signal)
      .catch((error: unknown) => log.warn("webhook attempt not recorded, it is repeated", { error }))
      .finally(() => {
        sending.delete(task);
        wake.notify();
      });
    sending.add(task);
  };
  const job = runJob({
    name: "deliver webhooks",
    everyMs: LOOK_EVERY_MS,
    wake,
    minGapMs: MIN_GAP_MS,
    async work() {
      if (!(await hasWebhooks(pool))) return false;
      look();
      const isBehind = await makeNext(pool);
      const limit = MOST_AT_ONCE - sending.size;
      const claimed =
        limit > 0 ? await claimDeliveries(pool, { claimMs: CLAIM_MS, perWebhook: PER_WEBHOOK, limit }) : [];
      claimed.forEach(start);
      return isBehind || workEveryMs;
    },
    log,
  });
  return {
    name: job.name,
    async [Symbol.asyncDispose]() {
      await job[Symbol.asyncDispose]();
      stop.abort();
      await Promise.all(sending);
    },
  };
}

/** Makes the deliveries of the next events. True when there may be more. */
async function makeNext(pool: Pool): Promise<boolean> {
  let isFull = false;
  for (const id of await listBehind(pool, MOST_PENDING, WEBHOOKS_PER_RUN)) {
    await inTransaction(pool, async (tx) => {
      const cursor = await lockCursor(tx, id);
      if (cursor === undefined) return;
      const types = permittedTypes(readTypes(cursor.types), cursor.scopes);
      if (await makeDeliveries(tx, { id, types, throughEvent: cursor.throughEvent }, EVENTS_PER_PAGE)) isFull = true;
      else await disableWebhook(tx, id, "events_removed");
    });
  }
  return isFull;
}

async function deliver(options: DeliverOptions, claimed: ClaimedDelivery, signal: AbortSignal): Promise<void> {
  const { pool, cipher, isRehearsal, answerWithinMs: withinMs = ANSWER_WITHIN_MS } = options;
  const { event, scopes, url, secret, previous, clientId } = claimed;
  if (event === undefined) return await giveUp(pool, claimed, "events_removed");
  if (!mayRead(event.type, scopes)) return await giveUp(pool, claimed, "insufficient_scope");
  const body = bodyOf(event);
  const secrets = [secret, ...(previous === null ? [] : [previous])].map((text) => cipher.decrypt(text, clientId));
  const headers = {
    "content-type": "application/json",
    "user-agent": "pamm-webhooks",
    ...signedHeaders({ id: event.key, body, sentAt: new Date() }, secrets),
  };
  const attempt = await send({ url, headers, body, isRehearsal, signal, withinMs });
  failpoint("after_answer", "webhook");
  await record(pool, claimed, attempt);
}

/** The same bytes in every attempt, as the convention has it: type, time and the event as the listing shows it. */
function bodyOf(event: StoredEvent): string {
  const message = { type: event.type, timestamp: event.occurredAt.toISOString(), data: Event.of(event) };
  return JSON.stringify(message, (_name, value: unknown) => (typeof value === "bigint" ? jsonInteger(value) : value));
}

async function record(pool: Pool, claimed: ClaimedDelivery, attempt: Attempt): Promise<void> {
  if (attempt.kind === "interrupted") return await releaseDelivery(pool, claimed);
  attempted.inc({ result: attempt.kind });
  if (attempt.kind === "delivered") return await markDelivered(pool, claimed, attempt.status, FAILURES_BEFORE_PAUSE);
  if (attempt.kind === "deferred") return await markDeferred(pool, claimed, attempt);
  if (attempt.kind === "gone") return await markGone(pool, claimed, attempt);
  const { status, error } = attempt;
  const isGivenUp = await markFailed(pool, claimed, {
    status,
    error,
    retryMs: retryMs(claimed.attempts, Math.random()),
    pauseMs: pauseMs(claimed.failures + 1, Math.random()),
    giveUpAfterMs: GIVE_UP_AFTER_MS,
  });
  if (isGivenUp) attempted.inc({ result: "given_up" });
}

/** An event that was refused for so long is given up, and an endpoint that has accepted none for so long is disabled. */
const GIVE_UP_AFTER_MS = 3 * DAY_MS;
/** After so many failures in a row nothing is sent to an endpoint but one attempt from time to time. */
const FAILURES_BEFORE_PAUSE = 3;
const FIRST_MS = 5 * SECOND_MS;
const LONGEST_MS = HOUR_MS;
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;

/** Until the next attempt of an event; `random` spreads those that failed together, between half of the time and all of it. */
export function retryMs(attempts: number, random: number): number {
  return spread(Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(attempts - 1, 0)), random);
}

/** How long an endpoint rests after so many failures in a row. Shorter than the pause of an event, so that one that is back is found soon. */
export function pauseMs(failures: number, random: number): number {
  if (failures < FAILURES_BEFORE_PAUSE) return 0;
  return spread(Math.min(LONGEST_PAUSE_MS, FIRST_MS * 2 ** (failures - FAILURES_BEFORE_PAUSE)), random);
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}
