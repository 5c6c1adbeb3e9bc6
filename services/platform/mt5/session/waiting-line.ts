import { Mt5Error } from "../errors.ts";

/** First come, first served; nobody waits longer than they said, and only so many may wait at all. */
export type WaitingLine<Thing> = {
  readonly join: (waitMs: number) => Promise<Thing>;
  readonly size: () => number;
  readonly serve: (thing: Thing) => void;
  /** Turns away everybody who would not wait beyond the given time anyway. */
  readonly turnAway: (error: Error, waitingLessThanMs?: number) => void;
};

type Waiter<Thing> = {
  readonly resolve: (thing: Thing) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  readonly until: number;
};

/** `late` makes the error of somebody whose time is over. */
export function createWaitingLine<Thing>(maxWaiting: number, late: () => Error): WaitingLine<Thing> {
  const waiters = new Set<Waiter<Thing>>();
  const leave = (waiter: Waiter<Thing>) => {
    clearTimeout(waiter.timer);
    waiters.delete(waiter);
  };
  return {
    join(waitMs) {
      if (waiters.size >= maxWaiting) {
        return Promise.reject(new Mt5Error("busy", "too many calls wait for a session of the platform"));
      }
      const { promise, resolve, reject } = Promise.withResolvers<Thing>();
      const timer = setTimeout(() => {
        leave(waiter);
        reject(late());
      }, waitMs);
      const waiter = { resolve, reject, timer, until: performance.now() + waitMs };
      waiters.add(waiter);
      return promise;
    },
    size: () => waiters.size,
    serve(thing) {
      const [first] = waiters;
      if (first === undefined) return;
      leave(first);
      first.resolve(thing);
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
