/** A request that waits in a queue of this process. */
type QueueEntry = Disposable & {
  /** Resolves with true when the request is the first of its queue, or with false after `timeoutMs`. */
  readonly untilFirst: (timeoutMs: number) => Promise<boolean>;
};

type Waiting = { readonly number: bigint; readonly wake: () => void };

/**
 * Queues the requests that wait in one process, so that only the first of each queue reads the database to learn whether it
 * may send. The database decides the order; these queues only limit the number of such reads.
 */
export class LocalQueue {
  readonly #queues = new Map<string, Waiting[]>();

  enter(queue: string, number: bigint): QueueEntry {
    const first = Promise.withResolvers<boolean>();
    const waiting: Waiting = { number, wake: () => first.resolve(true) };
    const others = this.#queues.get(queue) ?? [];
    this.#queues.set(queue, [...others, waiting].toSorted(byNumber));
    this.#wakeFirst(queue);
    return {
      untilFirst: (timeoutMs) => withinTime(first.promise, timeoutMs),
      [Symbol.dispose]: () => {
        this.#leave(queue, waiting);
      },
    };
  }

  #leave(queue: string, waiting: Waiting): void {
    const left = (this.#queues.get(queue) ?? []).filter((other) => other !== waiting);
    if (left.length === 0) this.#queues.delete(queue);
    else this.#queues.set(queue, left);
    this.#wakeFirst(queue);
  }

  /** A request that was woken is not stopped when a request with a lower number enters: the database orders them. */
  #wakeFirst(queue: string): void {
    this.#queues.get(queue)?.[0]?.wake();
  }
}

function byNumber(left: Waiting, right: Waiting): number {
  return left.number < right.number ? -1 : Number(left.number > right.number);
}

async function withinTime(promise: Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), Math.max(0, timeoutMs));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Wakes the requests of this process that wait for a change on a login. They also poll, so a lost signal costs latency only. */
export class LoginSignals {
  readonly #waiting = new Map<string, Set<() => void>>();

  notify(login: string): void {
    for (const wake of this.#waiting.get(login) ?? []) wake();
  }

  /** Resolves at the next `notify` or after `timeoutMs`. */
  wait(login: string, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(login) ?? new Set();
    this.#waiting.set(login, waiting);
    const timer = setTimeout(resolve, timeoutMs);
    waiting.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(resolve);
      if (waiting.size === 0 && this.#waiting.get(login) === waiting) this.#waiting.delete(login);
    });
  }
}
