import { Mt5Error } from "../errors.ts";

type Waiter<Item> = {
  readonly resolve: (item: Item) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  readonly until: number;
};

/** Callers that wait for an item, served in order; each has its own limit of time, and their number is limited. */
export class WaitingQueue<Item> {
  readonly #waiters = new Set<Waiter<Item>>();
  readonly #maxWaiting: number;
  readonly #lateError: () => Error;

  /** `lateError` makes the error of a caller that waited too long. */
  constructor(maxWaiting: number, lateError: () => Error) {
    this.#maxWaiting = maxWaiting;
    this.#lateError = lateError;
  }

  get size(): number {
    return this.#waiters.size;
  }

  join(waitMs: number): Promise<Item> {
    if (this.#waiters.size >= this.#maxWaiting) {
      return Promise.reject(new Mt5Error("busy", "too many calls wait for a session of the trading platform"));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Item>();
    const timer = setTimeout(() => {
      this.#waiters.delete(waiter);
      reject(this.#lateError());
    }, waitMs);
    const waiter = { resolve, reject, timer, until: performance.now() + waitMs };
    this.#waiters.add(waiter);
    return promise;
  }

  serve(item: Item): void {
    const [first] = this.#waiters;
    if (first !== undefined) this.#leave(first).resolve(item);
  }

  /** Rejects all callers whose wait ends within this time. */
  turnAway(error: Error, waitingLessThanMs = Number.POSITIVE_INFINITY): void {
    const limit = performance.now() + waitingLessThanMs;
    const refused = Array.from(this.#waiters).filter(({ until }) => until <= limit);
    for (const waiter of refused) this.#leave(waiter).reject(error);
  }

  #leave(waiter: Waiter<Item>): Waiter<Item> {
    clearTimeout(waiter.timer);
    this.#waiters.delete(waiter);
    return waiter;
  }
}
