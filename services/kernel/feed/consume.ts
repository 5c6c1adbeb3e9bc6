import assert from "node:assert/strict";
import { createWakeSignal, pause } from "../wake-signal.ts";
import type { EventType } from "../contract/event.ts";
import { runJob } from "../job.ts";
import { MAX_FEED_RETRY_MS } from "../retry.ts";
import { insertCursor } from "./receive-page.ts";
import { type ConsumerState, Follower, type FollowerOptions } from "./follower.ts";
import { Gauge } from "prom-client";
import { SECOND_MS } from "../duration.ts";

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["feed"] });

const lagEntries = gauge("pamm_feed_lag_entries", "Entries of a feed that this reader has not received.");
const readAt = gauge(
  "pamm_feed_read_timestamp_seconds",
  "When the owner of the feed last answered this reader; before the first answer, when the reader started.",
);
const stoppedReaders = gauge("pamm_feed_stopped", "1 when this reader is stopped until an operator acts.");

export type ConsumerOptions<Event extends EventType<unknown>> = Omit<FollowerOptions<Event>, "signal"> & {
  /** Between two reads that nothing asks for. */
  readonly pollMs?: number;
  /** Shortest time between the begins of two reads that nothing waits for. */
  readonly minGapMs?: number;
};

export type FeedConsumer = AsyncDisposable & {
  readonly feed: string;
  /** A wake-up signal: the owner has committed entries up to this number. */
  readonly wake: (lastNumber: bigint) => void;
  /** Reads soon, for a reader that nothing signals. */
  readonly look: () => void;
  /** Resolves when the entries up to this number are received, by this replica or another one. Rejects when the feed cannot be read. */
  readonly catchUp: (lastNumber: bigint) => Promise<void>;
  readonly state: () => ConsumerState;
};

/** The longest delay that a lost wake-up signal causes. */
export const POLL_MS = 5_000;
/** A reader that needs an entry at once catches up to it. */
const MIN_GAP_MS = 100;

/**
 * Receives a feed from the cursor in the service's database on. The lock on the cursor's row orders several replicas, of which
 * one receives the entries for as long as it does not fail.
 */
export async function consumeFeed<Event extends EventType<unknown>>(
  options: ConsumerOptions<Event>,
): Promise<FeedConsumer> {
  const { pool, feed, log, pollMs = POLL_MS, minGapMs = MIN_GAP_MS } = options;
  await insertCursor(pool, feed);
  const stop = new AbortController();
  const follower = new Follower({ ...options, signal: stop.signal });
  const wake = createWakeSignal();
  let signalled: bigint | undefined;
  let lastRead: Promise<unknown> = Promise.resolve();
  const showRead = (): void => {
    readAt.set({ feed }, Date.now() / SECOND_MS);
    show(follower.state);
  };
  /** One read at a time. Without a number, or while the entry with this number is not received. */
  const readInTurn = (upTo: bigint | undefined): Promise<boolean | number> => {
    const reading = lastRead.then(async () => {
      if (upTo !== undefined && upTo <= follower.number) return false;
      const next = await follower.read();
      showRead();
      return next;
    });
    lastRead = reading.catch(() => undefined);
    return reading;
  };
  const note = (lastNumber: bigint): void => {
    follower.noteLast(lastNumber);
    show(follower.state);
  };
  showRead();
  const job = runJob({
    name: `consume ${feed}`,
    everyMs: pollMs,
    maxRetryMs: MAX_FEED_RETRY_MS,
    minGapMs,
    wake,
    work() {
      const upTo = signalled;
      signalled = undefined;
      return readInTurn(upTo);
    },
    log,
  });

  return {
    feed,
    wake(lastNumber) {
      note(lastNumber);
      if (signalled === undefined || lastNumber > signalled) signalled = lastNumber;
      wake.notify();
    },
    look: wake.notify,
    async catchUp(lastNumber) {
      note(lastNumber);
      while (lastNumber > follower.number) {
        const next = await readInTurn(lastNumber);
        if (next === false) break;
        if (next !== true) await pause(next, stop.signal);
        stop.signal.throwIfAborted();
      }
      const { stopped } = follower.state;
      assert(stopped === undefined, `${feed} is stopped: ${stopped}`);
    },
    state: () => follower.state,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await job[Symbol.asyncDispose]();
    },
  };
}

function show({ feed, lag, stopped }: ConsumerState): void {
  lagEntries.set({ feed }, Number(lag));
  stoppedReaders.set({ feed }, stopped === undefined ? 0 : 1);
}
