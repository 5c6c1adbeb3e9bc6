import { FEED_NUMBER, type Forward } from "#kernel/feed/relay.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** A consumer of messages. A message is acknowledged when `catchUp` resolves, and delivered again when it rejects. */
export type Subscriber = {
  readonly feed: string;
  readonly catchUp: (lastNumber: bigint) => Promise<void>;
  readonly wake: (lastNumber: bigint) => void;
};

type Stored = { readonly feed: string; readonly number: bigint };

const MAX_LATENCY_MS = 5;
const RETRY_MS = 250;
const MAX_DELAY_MS = 4_000;

/**
 * JetStream and the wake-up signals of plain NATS. It may lose, repeat and delay messages. The counterpart of
 * kernel/nats/publisher.ts, pull.ts and wake-up-signal.ts.
 */
export class Broker {
  /** The current probability of each kind of fault: loss, repetition, delay. */
  failureRate = 0;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stored = new Map<string, Stored>();
  #storage = 0;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  subscribe(subscriber: Subscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  /** Its data directory is deleted: messages that are not delivered yet are lost. */
  loseData(): void {
    this.#storage += 1;
    this.#stored.clear();
  }

  /** Its consumers start again: everything that is still stored is delivered again. */
  redeliver(): void {
    for (const subscriber of this.#subscribers) {
      for (const { feed, number } of this.#stored.values()) {
        if (feed === subscriber.feed) this.#deliver(subscriber, number, this.#delayMs());
      }
    }
  }

  /** The publisher of one process. */
  publisherOf(process: SimulatedProcess): Forward {
    return (_subject, _payload, headers) => this.#publish(process, headers);
  }

  #publish(process: SimulatedProcess, headers: Readonly<Record<string, string>>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const isLost = this.#random.chance(this.failureRate);
    this.#scheduler.after(this.#random.next() * MAX_LATENCY_MS, "publish", () => {
      // A message may be stored although its confirmation is lost.
      const isStored = !isLost || this.#random.chance(0.5);
      if (isStored) this.#store(headers);
      process.deliver(undefined, "published", () => {
        if (isLost) reject(new Error("the broker did not answer"));
        else resolve();
      });
    });
    return promise;
  }

  /** Plain NATS: a lost signal is not repeated. */
  signal(feed: string, lastNumber: bigint): void {
    for (const { wake } of this.#subscribersOf(feed)) {
      if (this.#random.chance(this.failureRate)) continue;
      this.#scheduler.after(this.#random.next() * MAX_LATENCY_MS, "signal", () => wake(lastNumber));
    }
  }

  #store(headers: Readonly<Record<string, string>>): void {
    const id = headers["Nats-Msg-Id"] ?? "";
    const feed = headers["Feed-Name"] ?? "";
    if (this.#stored.has(id)) return;
    const number = BigInt(headers[FEED_NUMBER] ?? "");
    this.#stored.set(id, { feed, number });
    for (const subscriber of this.#subscribersOf(feed)) {
      if (this.#random.chance(this.failureRate)) continue;
      this.#deliver(subscriber, number, this.#delayMs());
      if (this.#random.chance(this.failureRate)) this.#deliver(subscriber, number, this.#delayMs());
    }
  }

  #subscribersOf(feed: string): readonly Subscriber[] {
    return [...this.#subscribers].filter((subscriber) => subscriber.feed === feed);
  }

  #delayMs(): number {
    const isDelayed = this.#random.chance(this.failureRate);
    return this.#random.next() * (isDelayed ? MAX_DELAY_MS : MAX_LATENCY_MS);
  }

  #deliver(subscriber: Subscriber, number: bigint, afterMs: number): void {
    const storage = this.#storage;
    this.#scheduler.after(afterMs, "deliver", () => {
      if (storage !== this.#storage || !this.#subscribers.has(subscriber)) return;
      subscriber.catchUp(number).catch(() => this.#deliver(subscriber, number, RETRY_MS));
    });
  }
}
