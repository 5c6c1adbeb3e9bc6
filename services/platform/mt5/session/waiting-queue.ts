import { Mt5Error } from "../errors.ts";

/** Callers that wait for an item, served in order; each has its own limit of time, and their number is limited. */
export type WaitingQueue<Item> = {
  readonly join: (waitMs: number) => Promise<Item>;
  readonly size: () => number;
  readonly serve: (item: Item) => void;
  /** Rejects all callers whose wait ends within this time. */
  readonly turnAway: (error: Error, waitingLessThanMs?: number) => void;
};

type Waiter<Item> = {
  readonly resolve: (item: Item) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  readonly until: number;
};

/** `lateError` makes the error of a caller that waited too long. */
export function createWaitingQueue<Item>(maxWaiting: number, lateError: () => Error): WaitingQueue<Item> {
  const waiters = new Set<Waiter<Item>>();
  const leave = (waiter: Waiter<Item>) => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
  };
  return {
    join(waitMs) {
      if (waiters.size >= maxWaiting) {
        return Promise.reject(new Mt5Error("busy", "too many calls wait for a session of the trading platform"));
      }
      const { promise, resolve, reject } = Promise.withResolvers<Item>();
      const timer = setTimeout(() => {
        leave(waiter);
        reject(lateError());
      }, waitMs);
      const waiter = { resolve, reject, timer, until: performance.now() + waitMs };
      waiters.add(waiter);
      return promise;
    },
    size: () => waiters.size,
    serve(item) {
      const [first] = waiters;
      if (first === undefined) return;
      leave(first);
      first.resolve(item);
    },
    turnAway(error, waitingLessThanMs = Number.POSITIVE_INFINITY) {
      const limit = performance.now() + waitingLessThanMs;
      for (const waiter of Array.from(waiters)) {
        if (waiter.until > limit) continue;
        leave(waiter);
        waiter.reject(error);
      }
    },
  };
}
