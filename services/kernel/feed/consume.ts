import assert from "node:assert/strict";
import { createWakeSignal, pause } from "../wake-signal.ts";
import { systemClock } from "../clock.ts";
import type { EventType } from "../contract/event.ts";
import { runJob } from "../job.ts";
import { MAX_FEED_RETRY_MS } from "../retry.ts";
import { insertCursor } from "./cursor.ts";
import { Follower, type FollowerOptions } from "./follower.ts";
import { showRead, showReader } from "./metrics.ts";

export type ConsumerOptions<Event extends EventType<unknown>> = Omit<FollowerOptions<Event>, "signal"> & {
  /** Between two reads that nothing asks for. */
  readonly pollMs?: number;
  /** Shortest time between the begins of two reads that nothing waits for. */
  readonly minGapMs?: number;
};

export type ConsumerState = {
  readonly feed: string;
  /** Why the feed is stopped until an operator acts; undefined while it is read. */
  readonly stopped: string | undefined;
  /** It is stopped because the owner was restored to an older time: its numbers name other entries than those that were received. */
  readonly isRewound: boolean;
  /** Number of the last entry that was received. */
  readonly number: bigint;
  /** Number of entries that are not received. */
  readonly lag: bigint;
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
  /** One read at a time. Without a number, or while the entry with this number is not received. */
  const readInTurn = (upTo: bigint | undefined): Promise<boolean | number> => {
    const reading = lastRead.then(async () => {
      if (upTo !== undefined && upTo <= follower.number) return false;
      const next = await follower.read();
      showRead(feed, systemClock());
      showReader(feed, follower);
      return next;
    });
    lastRead = reading.catch(() => undefined);
    return reading;
  };
  const note = (lastNumber: bigint): void => {
    follower.noteLast(lastNumber);
    showReader(feed, follower);
  };
  showRead(feed, systemClock());
  showReader(feed, follower);
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
      assert(follower.stopped === undefined, `${feed} is stopped: ${follower.stopped}`);
    },
    state: () => {
      const { stopped, isRewound, number, lag } = follower;
      return { feed, stopped, isRewound, number, lag };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await job[Symbol.asyncDispose]();
    },
  };
}
