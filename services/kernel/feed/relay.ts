import { createWakeSignal } from "../wake-signal.ts";
import { HOUR_MS } from "../duration.ts";
import { runJob } from "../job.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import { MAX_FEED_RETRY_MS } from "../retry.ts";
import { type Forward, FORWARD_BATCH, type ForwardedEntry, forwardEntries, ForwardFailed } from "./forward.ts";
import { showOldestUnforwarded } from "./metrics.ts";
import { listUnforwarded, nextUnforwarded, type PublishedEntry } from "./outbox.ts";
import { onPublished } from "./publish.ts";
import type { DueJob } from "../work-queue/due-jobs.ts";

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
  showOldestUnforwarded(entries[0]?.age ?? 0);
  if (entries.length > 0) await forwardEntries(options, entries);
  return entries.length > 0;
}
