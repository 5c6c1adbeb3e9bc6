import type { FeedEntry } from "#proto/pamm/common/v1/feed.ts";
import { entryFromHeaders } from "../../../services/kernel/feed/headers.ts";
import type { Publish } from "../../../services/kernel/feed/publish.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** Somebody who is brought what is published. It is acked when `deliver` resolves, and brought again when it rejects. */
export type Subscriber = {
  readonly feed: string;
  readonly deliver: (entries: readonly FeedEntry[]) => Promise<void>;
  readonly wake: (lastNumber: bigint) => void;
};

type Stored = { readonly feed: string; readonly entry: FeedEntry };

const LONGEST_WAY_MS = 5;
const RETRY_MS = 250;
const LONGEST_DELAY_MS = 4_000;

/**
 * JetStream and the nudges beside it: a doorbell that may lose, repeat, delay and forget. The counterpart of
 * kernel/nats/publisher.ts, pull.ts and nudge.ts; headers are read by the real code.
 */
export class Broker {
  /** How likely each bad thing is now. */
  trouble = 0;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stored = new Map<string, Stored>();
  #memory = 0;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  subscribe(subscriber: Subscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  /** Its directory was deleted: whatever is not delivered yet never comes. */
  forget(): void {
    this.#memory += 1;
    this.#stored.clear();
  }

  /** A consumer of its own began again: everything that is still stored is brought once more. */
  rewind(): void {
    for (const subscriber of this.#subscribers) {
      for (const { feed, entry } of this.#stored.values()) {
        if (feed === subscriber.feed) this.#bring(subscriber, entry, this.#delayMs());
      }
    }
  }

  /** How one process publishes. */
  publisherOf(process: SimulatedProcess): Publish {
    return (_subject, payload, headers) => this.#publish(process, payload, headers);
  }

  #publish(process: SimulatedProcess, payload: Uint8Array, headers: Readonly<Record<string, string>>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const isLost = this.#random.chance(this.trouble);
    this.#scheduler.after(this.#random.next() * LONGEST_WAY_MS, "publish", () => {
      // The message may be stored although nobody says so.
      const isStored = !isLost || this.#random.chance(0.5);
      if (isStored) this.#store(payload, headers);
      process.deliver(undefined, "published", () => {
        if (isLost) reject(new Error("the broker did not answer"));
        else resolve();
      });
    });
    return promise;
  }

  /** Plain NATS: no second try. */
  nudge(feed: string, lastNumber: bigint): void {
    for (const { wake } of this.#followersOf(feed)) {
      if (this.#random.chance(this.trouble)) continue;
      this.#scheduler.after(this.#random.next() * LONGEST_WAY_MS, "nudge", () => wake(lastNumber));
    }
  }

  #store(payload: Uint8Array, headers: Readonly<Record<string, string>>): void {
    const id = headers["Nats-Msg-Id"] ?? "";
    const feed = headers["Feed-Name"] ?? "";
    if (this.#stored.has(id)) return;
    const entry = entryFromHeaders(payload, (name) => headers[name] ?? "");
    if (entry === undefined) throw new Error("an entry was published that nobody can read");
    this.#stored.set(id, { feed, entry });
    for (const subscriber of this.#followersOf(feed)) {
      if (this.#random.chance(this.trouble)) continue;
      this.#bring(subscriber, entry, this.#delayMs());
      if (this.#random.chance(this.trouble)) this.#bring(subscriber, entry, this.#delayMs());
    }
  }

  #followersOf(feed: string): readonly Subscriber[] {
    return [...this.#subscribers].filter((subscriber) => subscriber.feed === feed);
  }

  #delayMs(): number {
    const isDelayed = this.#random.chance(this.trouble);
    return this.#random.next() * (isDelayed ? LONGEST_DELAY_MS : LONGEST_WAY_MS);
  }

  #bring(subscriber: Subscriber, entry: FeedEntry, afterMs: number): void {
    const memory = this.#memory;
    this.#scheduler.after(afterMs, "bring", () => {
      if (memory !== this.#memory || !this.#subscribers.has(subscriber)) return;
      subscriber.deliver([entry]).catch(() => this.#bring(subscriber, entry, RETRY_MS));
    });
  }
}
