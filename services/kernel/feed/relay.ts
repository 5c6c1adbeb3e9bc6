import { createWakeSignal } from "../wake-signal.ts";
import { type Job, runJob } from "../job.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import { MAX_FEED_RETRY_MS } from "../retry.ts";
import { type Forward, FORWARD_BATCH, type ForwardedEntry, forwardEntries, ForwardFailed } from "./forward.ts";
import { showOldestUnforwarded } from "./metrics.ts";
import { listUnforwarded, type PublishedEntry } from "./outbox.ts";
import { onPublished } from "./publish.ts";

export type RelayOptions = {
  readonly service: string;
  readonly pool: Pool;
  /** Sends an entry to JetStream. */
  readonly forward: Forward;
  /** Sends a wake-up signal to the readers of a feed. The signal may be lost; the function must not throw. */
  readonly signal: (feed: string, lastNumber: bigint) => void;
  readonly log: Log;
};

/** The longest delay of a message to JetStream that its process could not forward; readers were signalled, or poll. */
const SWEEP_EVERY_MS = 5_000;
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
export async function startRelay(options: RelayOptions): Promise<AsyncDisposable> {
  const { pool, signal, log } = options;
  const waiting: ForwardedEntry[] = [];
  const wake = createWakeSignal();
  const listening = onPublished(pool, (entries) => {
    for (const [feed, lastNumber] of lastNumbers(entries)) signal(feed, lastNumber);
    waiting.push(...entries.filter(isForwarded).slice(0, MAX_WAITING - waiting.length));
    if (waiting.length > 0) wake.notify();
  });
  const often = { everyMs: SWEEP_EVERY_MS, maxRetryMs: MAX_FEED_RETRY_MS, log };
  const jobs: Job[] = [
    runJob({ ...often, name: "forward feeds", wake, minGapMs: MIN_GAP_MS, work: () => forwardNext(options, waiting) }),
    runJob({ ...often, name: "forward left feed entries", work: () => sweep(options) }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
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
  showOldestUnforwarded(entries[0]?.age ?? 0);
  if (entries.length > 0) await forwardEntries(options, entries);
  return entries.length > 0;
}
