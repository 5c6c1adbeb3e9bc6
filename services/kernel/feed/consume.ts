import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { createBell } from "../bell.ts";
import { systemClock } from "../clock.ts";
import type { EventType } from "../contract/event.ts";
import { runJob } from "../job.ts";
import { insertCursor } from "./cursor.ts";
import { Follower } from "./follower.ts";
import type { FollowerOptions } from "./follower.ts";
import { showRead, showReader } from "./metrics.ts";

export type ConsumerOptions<Event extends EventType<unknown>> = Omit<FollowerOptions<Event>, "signal"> & {
  /** "pushed" when a broker delivers the entries too, so that reading is left for what it lost. */
  readonly arrival: "polled" | "pushed";
};

export type ConsumerState = {
  readonly feed: string;
  /** Why it stands still until a person acts; undefined while it moves. */
  readonly stopped: string | undefined;
  /** Number of the last entry that was filed. */
  readonly number: bigint;
  /** How many entries are known to be there and not filed. */
  readonly lag: bigint;
};

export type FeedConsumer = AsyncDisposable & {
  readonly feed: string;
  /** Resolves when all entries are filed, now or before, so that the caller may ack; rejects when it may not. */
  readonly deliver: (entries: readonly FeedEntry[]) => Promise<void>;
  /** The feed has got as far as this number, says its owner. */
  readonly wake: (lastNumber: bigint) => void;
  readonly state: () => ConsumerState;
};

/** The safety net of a pushed feed is slow, because each heartbeat of its owner is one too. */
const POLL_MS = { polled: 250, pushed: 5_000 };
/** An owner that is back is found within this time. */
const LONGEST_RETRY_MS = 5_000;
/** What a broker should have brought within this time is read instead. Below the second between two heartbeats. */
const PATIENCE_MS = 900;

/** Follows a feed from the cursor in the own database. Several replicas may; the row of the cursor orders them. */
export async function consumeFeed<Event extends EventType<unknown>>(
  options: ConsumerOptions<Event>,
): Promise<FeedConsumer> {
  const { pool, feed, arrival, log } = options;
  await insertCursor(pool, feed);
  const stop = new AbortController();
  const follower = new Follower({ ...options, signal: stop.signal });
  const inTurn = oneAtATime();
  const readNext = async (): Promise<boolean> => {
    const hasMore = await follower.read();
    showRead(feed, systemClock());
    showReader(feed, follower);
    return hasMore;
  };
  showRead(feed, systemClock());
  showReader(feed, follower);
  const isOverdue = arrival === "polled" ? () => true : stuckFor(PATIENCE_MS);

  const bell = createBell();
  const job = runJob({
    name: `follow ${feed}`,
    everyMs: POLL_MS[arrival],
    longestRetryMs: LONGEST_RETRY_MS,
    wake: bell,
    work: () => inTurn(readNext),
    log,
  });

  return {
    feed,
    deliver: (entries) => inTurn(() => follower.deliver(entries)),
    wake(lastNumber) {
      follower.hear(lastNumber);
      showReader(feed, follower);
      const isLevel = lastNumber === follower.number;
      if (isOverdue(isLevel ? undefined : follower.number)) bell.ring();
    },
    state: () => ({ feed, stopped: follower.stopped, number: follower.number, lag: follower.lag }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await job[Symbol.asyncDispose]();
      await inTurn(async () => undefined);
    },
  };
}

/** True once the same place has been reported for so long. */
function stuckFor(patienceMs: number): (place: bigint | undefined) => boolean {
  let seen: { readonly place: bigint; readonly at: number } | undefined;
  return (place) => {
    if (place === undefined) seen = undefined;
    else if (seen?.place !== place) seen = { place, at: performance.now() };
    return seen !== undefined && performance.now() - seen.at >= patienceMs;
  };
}

/** Runs what it is given one after the other, whatever becomes of each. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}
