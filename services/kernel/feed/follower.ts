import type { ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import { failpoint } from "../failpoint.ts";
import type { EventType } from "../contract/event.ts";
import type { Log } from "../log.ts";
import { failureOf } from "../contract/rpc-span.ts";
import { inSpan, NO_PLACE, startSpan } from "../tracing/span.ts";
import type { Pool } from "../postgres/pool.ts";
import { Refusal } from "../refusal.ts";
import { type Cursor, getCursor, type Page, receivePage, type Receiver } from "./receive-page.ts";
import { MAX_ENTRIES_PER_READ } from "./read.ts";

export type FollowerOptions<Event extends EventType<unknown>> = Receiver<Event> & {
  readonly pool: Pool;
  /** Calls the owner of the feed, with a deadline; the signal cancels the call. */
  readonly read: (request: ReadRequest, signal: AbortSignal) => Promise<ReadResponse>;
  readonly signal: AbortSignal;
  readonly log: Log;
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

/** A replica that another one has overtaken leaves the feed to it until the cursor has not moved for this long. */
const LEFT_FOR_MS = 1_000;
/** Meanwhile it looks at the cursor, while there are entries that are not received. */
const LOOK_EVERY_MS = 100;
/** Polls between two comparisons of the row with its copy: a minute. */
const EMPTY_PAGES = 12;

/** Receives a feed page by page. Its cursor is a copy of the row, which another replica may have moved; the row decides. */
export class Follower<Event extends EventType<unknown>> {
  readonly #options: FollowerOptions<Event>;
  #cursor: Cursor | undefined;
  #lastNumber = 0n;
  #stopped: string | undefined;
  #emptyPages = 0;
  #isRewound = false;
  /** When the cursor was last seen to be moved by another replica, while the feed is left to that one. */
  #overtakenAtMs: number | undefined;

  constructor(options: FollowerOptions<Event>) {
    this.#options = options;
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

  /**
   * Reads and receives the next page, unless another replica does: one that receives all pages reads more entries at a time. True
   * when there were more entries, and the milliseconds until the next look when they are left to another replica.
   */
  async read(): Promise<boolean | number> {
    if (this.#stopped !== undefined) return false;
    if (await this.#isLeft()) return this.state.lag > 0n && LOOK_EVERY_MS;
    const { pool, feed, read, signal } = this.#options;
    const after = (this.#cursor ??= await getCursor(pool, feed));
    try {
      const request = { feed, afterNumber: after.number, afterId: after.id, limit: MAX_ENTRIES_PER_READ };
      const { entries, lastNumber } = await read(request, signal);
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

  async #isLeft(): Promise<boolean> {
    if (this.#overtakenAtMs === undefined) return false;
    const { pool, feed } = this.#options;
    const cursor = await getCursor(pool, feed);
    if (cursor.id !== this.#cursor?.id) this.#overtakenAtMs = performance.now();
    else if (performance.now() - this.#overtakenAtMs >= LEFT_FOR_MS) this.#overtakenAtMs = undefined;
    this.#cursor = cursor;
    return this.#overtakenAtMs !== undefined;
  }

  async #receive(page: Page): Promise<void> {
    const span = startSpan(`receive ${this.#options.feed}`, {
      kind: "consumer",
      parent: NO_PLACE,
      mayBegin: true,
      attributes: { "messaging.destination.name": this.#options.feed, ...pageAttributes(page) },
    });
    const receive = () => receivePage(this.#options.pool, this.#options, page);
    const { cursor, isOvertaken, malformed } = await inSpan(span, receive, failureOf);
    failpoint("after_filing");
    this.#cursor = cursor;
    if (isOvertaken) this.#overtakenAtMs = performance.now();
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
