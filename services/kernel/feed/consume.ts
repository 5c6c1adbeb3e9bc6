import assert from "node:assert/strict";
import { Gauge } from "prom-client";
import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import type { EventType } from "../contract/event.ts";
import { failureOf } from "../contract/refusals.ts";
import { SECOND_MS } from "../values/duration.ts";
import { failpoint } from "../process/failpoint.ts";
import { runJob } from "../jobs/job.ts";
import type { Log } from "../process/log.ts";
import type { Pool } from "../postgres/pool.ts";
import { Refusal } from "../values/refusal.ts";
import { MAX_FEED_RETRY_MS } from "../jobs/retry.ts";
import { inSpan, NO_PLACE, startSpan } from "../tracing/span.ts";
import { createWakeSignal, pause } from "../jobs/wake-signal.ts";
import { MAX_ENTRIES_PER_READ } from "./read.ts";
import { type Cursor, getCursor, insertCursor, type Page, receivePage, type Receiver } from "./receive-page.ts";

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ["feed"] });

const lagEntries = gauge("pamm_feed_lag_entries", "Entries of a feed that this reader has not received.");
const readAt = gauge(
  "pamm_feed_read_timestamp_seconds",
  "When the owner of the feed last answered this reader; before the first answer, when the reader started.",
);
const stoppedReaders = gauge("pamm_feed_stopped", "1 when this reader is stopped until an operator acts.");

export type ConsumerOptions<Event extends EventType<unknown>> = Receiver<Event> & {
  readonly pool: Pool;
  /** Calls the owner of the feed, with a deadline; the signal cancels the call. */
  readonly read: (request: ReadRequest, signal: AbortSignal) => Promise<ReadResponse>;
  readonly log: Log;
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

/** The longest delay that a lost wake-up signal causes. */
const POLL_MS = 5_000;
/** What is published in this time is received by one transaction. */
const MIN_GAP_MS = 100;

/**
 * Receives a feed from the cursor in the service's database on. The lock on the cursor's row orders several replicas: of those that have
 * read the same page one stores it.
 */
export async function consumeFeed<Event extends EventType<unknown>>(
  options: ConsumerOptions<Event>,
): Promise<FeedConsumer> {
  const { pool, feed, log, pollMs = POLL_MS, minGapMs = MIN_GAP_MS } = options;
  await insertCursor(pool, feed);
  const stop = new AbortController();
  const follower = new Follower(options, stop.signal);
  const wake = createWakeSignal();
  let signalled: bigint | undefined;
  let lastRead: Promise<unknown> = Promise.resolve();
  const showRead = (): void => {
    readAt.set({ feed }, Date.now() / SECOND_MS);
    show(follower.state);
  };
  /** One read at a time. Without a number, or while the entry with this number is not received. True when there are more entries. */
  const readInTurn = (upTo: bigint | undefined): Promise<boolean> => {
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
      // The plain signal came before the message, so the next read has the entries as a rule.
      if (lastNumber > follower.number) await pause(minGapMs, stop.signal);
      while (lastNumber > follower.number) {
        const next = await readInTurn(lastNumber);
        if (!next) break;
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

/** Polls between two comparisons of the row with its copy: a minute. */
const EMPTY_PAGES = 12;

/** Receives a feed page by page. Its cursor is a copy of the row, which another replica may have moved; the row decides. */
class Follower<Event extends EventType<unknown>> {
  readonly #options: ConsumerOptions<Event>;
  readonly #signal: AbortSignal;
  #cursor: Cursor | undefined;
  #lastNumber = 0n;
  #stopped: string | undefined;
  #emptyPages = 0;
  #isRewound = false;

  constructor(options: ConsumerOptions<Event>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Number of the last entry that was received. */
  get number(): bigint {
    return this.#cursor?.number ?? 0n;
  }

  get state(): ConsumerState {
    const { number } = this;
    const lag = this.#lastNumber > number ? this.#lastNumber - number : 0n;
    return { feed: this.#options.feed, stopped: this.#stopped, isRewound: this.#isRewound, number, lag };
  }

  /** Records the last number of the feed, as its owner reports it. */
  noteLast(number: bigint): void {
    if (number > this.#lastNumber) this.#lastNumber = number;
  }

  /** Reads and receives the next page. True when there were more entries. */
  async read(): Promise<boolean> {
    if (this.#stopped !== undefined) return false;
    const { pool, feed, read } = this.#options;
    const after = (this.#cursor ??= await getCursor(pool, feed));
    try {
      const request = { feed, afterNumber: after.number, afterId: after.id, limit: MAX_ENTRIES_PER_READ };
      const { entries, lastNumber } = await read(request, this.#signal);
      this.#lastNumber = lastNumber;
      if (entries.length > 0) await this.#receive({ after, entries });
      else if (this.#isRowDue() && (await this.#isOutdated(after))) return true;
      // What came meanwhile has its own wake-up signal: it is read together with what comes next.
      return this.#stopped === undefined && entries.length > 0 && lastNumber > this.number;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if (await this.#isOutdated(after)) return true;
      this.#isRewound = error.code === "feed_rewound";
      this.#stop(error.code, error);
      return false;
    }
  }

  /** The row is compared at every twelfth page without entries: a system without traffic hardly makes statements. */
  #isRowDue(): boolean {
    this.#emptyPages = (this.#emptyPages + 1) % EMPTY_PAGES;
    return this.#emptyPages === 0;
  }

  /**
   * Whether the row is another one than the copy, so that the row decides: with the owner's database, that of this service may have
   * lost commits too, in a failover that leaves the processes running.
   */
  async #isOutdated(copy: Cursor): Promise<boolean> {
    const { pool, feed } = this.#options;
    const { number, id } = await getCursor(pool, feed);
    if (id === copy.id && number === copy.number) return false;
    this.#cursor = { number, id };
    return true;
  }

  async #receive(page: Page): Promise<void> {
    const span = startSpan(`receive ${this.#options.feed}`, {
      kind: "consumer",
      parent: NO_PLACE,
      mayBegin: true,
      attributes: { "messaging.destination.name": this.#options.feed, ...pageAttributes(page) },
    });
    const receive = () => receivePage(this.#options.pool, this.#options, page);
    const { cursor, malformed } = await inSpan(span, receive, failureOf);
    failpoint("after_filing");
    this.#cursor = cursor;
    if (malformed !== undefined) this.#stop("malformed", malformed);
  }

  #stop(reason: string, error: Error): void {
    this.#stopped = `${reason}: ${error.message}`;
    const { feed, log } = this.#options;
    log.error("feed stopped, follow the runbook of PammFeedStopped", { feed, number: this.number, reason, error });
  }
}

/** More would make a span too large for its store. */
const MAX_SHOWN_REQUESTS = 50;

/** A page has entries of many requests, so it is part of none of their traces: their ids lead to them. */
function pageAttributes({ entries }: Page) {
  const requestIds = new Set(entries.map(({ requestId }) => requestId).filter((id) => id !== ""));
  return {
    "messaging.batch.message_count": entries.length,
    "pamm.request_ids": [...requestIds].slice(0, MAX_SHOWN_REQUESTS),
  };
}

/** The owner has no entry at the cursor any more: reading on would leave out entries, or mix two histories. */
function isUnreadable(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.code === "feed_rewound" || error.code === "feed_truncated");
}
