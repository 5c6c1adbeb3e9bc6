import { Gauge } from "prom-client";
import { createWakeSignal } from "../wake-signal.ts";
import { HOUR_MS } from "../duration.ts";
import { runJob } from "../job.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import { MAX_FEED_RETRY_MS } from "../retry.ts";
import { listUnforwarded, nextUnforwarded, type PublishedEntry, markForwarded } from "./outbox.ts";
import { onPublished } from "./publish.ts";
import type { DueJob } from "../work-queue/due-jobs.ts";
import { failpoint } from "../failpoint.ts";

const oldestUnforwarded = new Gauge({
  name: "pamm_outbox_oldest_unforwarded_seconds",
  help: "Age of the oldest event that JetStream should carry and does not yet; 0 when there is none older than seconds.",
});
// A process without a relay shows no outbox.
oldestUnforwarded.remove();

export type RelayOptions = {
  readonly service: string;
  readonly pool: Pool;
  /** Sends an entry to JetStream. */
  readonly forward: Forward;
  /** Sends a wake-up signal to the readers of a feed. The signal may be lost; the function must not throw. */
  readonly signal: (feed: string, lastNumber: bigint) => void;
  readonly log: Log;
};

export type Relay = AsyncDisposable & {
  /** Sends what processes left behind; it belongs to the due jobs of the service, whose poll finds it. */
  readonly sweep: DueJob;
};

/** Only bounds the timer: what is committed wakes the job. */
const MAX_SLEEP_MS = HOUR_MS;
/** Readers are signalled before; consumers of JetStream are outside the path of money. */
const MIN_GAP_MS = 100;
/** Longer than a process needs to forward what it has committed, so that few messages are sent twice. */
const SWEEP_MIN_AGE_MS = 5_000;
/** Entries of a process that wait for the broker; more are left to the sweep. */
const MAX_WAITING = 2_000;

/**
 * Signals readers when this process has committed entries, sends them to JetStream, and sends what other processes left
 * behind. Each replica has a relay, and none needs to know of the others: a message that two of them send is stored once.
 */
export function startRelay(options: RelayOptions): Relay {
  const { pool, signal, log } = options;
  const waiting: ForwardedEntry[] = [];
  const wake = createWakeSignal();
  const listening = onPublished(pool, (entries) => {
    for (const [feed, lastNumber] of lastNumbers(entries)) signal(feed, lastNumber);
    waiting.push(...entries.filter(isForwarded).slice(0, MAX_WAITING - waiting.length));
    if (waiting.length > 0) wake.notify();
  });
  const retry = { maxRetryMs: MAX_FEED_RETRY_MS };
  const job = runJob({
    ...retry,
    name: "forward feeds",
    everyMs: MAX_SLEEP_MS,
    wake,
    minGapMs: MIN_GAP_MS,
    work: () => forwardNext(options, waiting),
    log,
  });
  return {
    sweep: {
      ...retry,
      name: "forward left feed entries",
      due: () => nextUnforwarded(SWEEP_MIN_AGE_MS),
      work: () => sweep(options),
    },
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      await job[Symbol.asyncDispose]();
    },
  };
}

function lastNumbers(entries: readonly PublishedEntry[]): ReadonlyMap<string, bigint> {
  return new Map(entries.map(({ feed, number }) => [feed, number]));
}

function isForwarded(entry: PublishedEntry): entry is ForwardedEntry {
  return entry.subject !== undefined;
}

/** A batch is what was committed while the last one was forwarded. */
async function forwardNext(options: RelayOptions, waiting: ForwardedEntry[]): Promise<boolean> {
  const batch = waiting.splice(0, FORWARD_BATCH);
  if (batch.length === 0) return false;
  try {
    await forwardEntries(options, batch);
  } catch (error) {
    // The sweep sends the entries again, and logs that when it fails too.
    if (!(error instanceof ForwardFailed)) throw error;
  }
  return waiting.length > 0;
}

/** Every replica shows the state of the table, whichever process has published. */
async function sweep(options: RelayOptions): Promise<boolean> {
  const entries = await listUnforwarded(options.pool, SWEEP_MIN_AGE_MS, FORWARD_BATCH);
  oldestUnforwarded.set(entries[0]?.age ?? 0);
  if (entries.length > 0) await forwardEntries(options, entries);
  return entries.length > 0;
}

/** Resolves when the broker has stored the message, now or earlier under the same Nats-Msg-Id. */
export type Forward = (
  subject: string,
  payload: Uint8Array,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

/** The broker did not confirm. It may have stored the message; sending it again is harmless. */
class ForwardFailed extends Error {
  override readonly name = "ForwardFailed";
}

/** The header with the number of the entry. */
export const FEED_NUMBER = "Feed-Number";
/** Entries that are forwarded at the same time; all are in memory until the broker has acknowledged each. */
const FORWARD_BATCH = 500;

/** An entry that JetStream carries. */
type ForwardedEntry = PublishedEntry & { readonly subject: string };

/** Sends the entries to JetStream, all at once, and records those that it has stored. */
async function forwardEntries(
  { pool, service, forward }: { readonly pool: Pool; readonly service: string; readonly forward: Forward },
  entries: readonly ForwardedEntry[],
): Promise<void> {
  const results = await Promise.allSettled(
    entries.map((entry) => forward(entry.subject, entry.payload, headersOf(service, entry))),
  );
  failpoint("after_publish");
  const stored = entries.filter((_, index) => results[index]?.status === "fulfilled");
  if (stored.length > 0) {
    await markForwarded(
      pool,
      stored.map(({ id }) => id),
    );
  }
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    const message = `${entries.length - stored.length} of ${entries.length} messages were not stored by the broker`;
    throw new ForwardFailed(message, { cause: failure.reason });
  }
}

/** The broker drops a second message with the same Nats-Msg-Id. */
function headersOf(service: string, entry: ForwardedEntry): Record<string, string> {
  return {
    "Nats-Msg-Id": `${service}:${entry.id}`,
    "Feed-Name": entry.feed,
    [FEED_NUMBER]: String(entry.number),
    "Feed-Type": entry.type,
    "Request-Id": entry.requestId,
  };
}
