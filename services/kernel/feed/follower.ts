import assert from "node:assert/strict";
import type { FeedEntry, ReadRequest, ReadResponse } from "#proto/pamm/common/v1/feed.ts";
import { failpoint } from "../failpoint.ts";
import type { EventType } from "../contract/event.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../postgres/pool.ts";
import { Refusal } from "../refusal.ts";
import { getCursor } from "./cursor.ts";
import { fileBatch } from "./file-batch.ts";
import type { Filing } from "./file-batch.ts";
import { MAX_ENTRIES_PER_READ } from "./read.ts";

export type FollowerOptions<Event extends EventType<unknown>> = Filing<Event> & {
  readonly pool: Pool;
  /** Asks the owner of the feed, with a deadline; the signal says that nobody waits for the answer any more. */
  readonly read: (request: ReadRequest, signal: AbortSignal) => Promise<ReadResponse>;
  readonly signal: AbortSignal;
  readonly log: Log;
};

/** Reads that one delivery may start to close the gap before it; a longer way is left to the loop. */
const MAX_READS_PER_DELIVERY = 10;

/** Files a feed step by step. Its steps must not overlap; what it remembers is only a copy of the cursor's row. */
export class Follower<Event extends EventType<unknown>> {
  readonly #options: FollowerOptions<Event>;
  #number = 0n;
  #lastNumber = 0n;
  #stopped: string | undefined;

  constructor(options: FollowerOptions<Event>) {
    this.#options = options;
  }

  /** Number of the last entry that was filed. */
  get number(): bigint {
    return this.#number;
  }

  /** Why the feed stands still until a person acts, if it does. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  get lag(): bigint {
    return this.#lastNumber > this.#number ? this.#lastNumber - this.#number : 0n;
  }

  hear(lastNumber: bigint): void {
    if (lastNumber > this.#lastNumber) this.#lastNumber = lastNumber;
  }

  /** Files the next page. True when there is more at once. */
  async read(): Promise<boolean> {
    if (this.#stopped !== undefined) return false;
    const { pool, feed, read, signal } = this.#options;
    const cursor = await getCursor(pool, feed);
    this.#number = cursor.number;
    try {
      const after = { afterNumber: cursor.number, afterId: cursor.id };
      const page = await read({ feed, ...after, limit: MAX_ENTRIES_PER_READ }, signal);
      this.#lastNumber = page.lastNumber;
      if (page.entries.length === 0) return false;
      const mustRead = await this.#file(page.entries);
      assert(!mustRead, `${feed} was read with a gap after ${cursor.number}`);
      return this.#stopped === undefined && this.lag > 0n;
    } catch (error) {
      if (!isRewound(error)) throw error;
      this.#stop("rewound", error);
      return false;
    }
  }

  /** Files what a broker brought, reading what is missing before it. Rejects unless all of it is filed now. */
  async deliver(entries: readonly FeedEntry[]): Promise<void> {
    let mustRead = this.#stopped === undefined && (await this.#file(entries));
    for (let reads = 0; mustRead && reads < MAX_READS_PER_DELIVERY; reads += 1) mustRead = await this.read();
    const { feed } = this.#options;
    assert(this.#stopped === undefined, `${feed} is stopped: ${this.#stopped}`);
    const isFiled = entries.every(({ number }) => number <= this.#number);
    assert(isFiled, `${feed} is filed up to ${this.#number} only`);
  }

  async #file(entries: readonly FeedEntry[]): Promise<boolean> {
    const { cursor, mustRead, malformed } = await fileBatch(this.#options.pool, this.#options, entries);
    failpoint("after_filing");
    this.#number = cursor.number;
    this.hear(cursor.number);
    if (malformed !== undefined) this.#stop("malformed", malformed);
    return mustRead;
  }

  #stop(reason: string, error: Error): void {
    this.#stopped = `${reason}: ${error.message}`;
    const { feed, log } = this.#options;
    log.error("a feed is stopped until a person acts", { feed, number: this.#number, reason, error });
  }
}

function isRewound(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === "feed_rewound";
}
