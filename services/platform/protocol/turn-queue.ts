/** Where an operation stands among those of its line that wait in this process. */
type LinePlace = Disposable & {
  /** Resolves when it is the first, or when the time is up. */
  readonly untilFirst: (timeoutMs: number) => Promise<boolean>;
};

type Waiting = { readonly number: bigint; readonly wake: () => void };

/**
 * Orders the requests that wait in one process, so that only the first of each line asks the database for its turn. The
 * order that counts is the database's; this only keeps hundreds of requests from asking it all at once.
 */
export class LocalLine {
  readonly #lines = new Map<string, Waiting[]>();

  enter(line: string, number: bigint): LinePlace {
    const first = Promise.withResolvers<boolean>();
    const waiting: Waiting = { number, wake: () => first.resolve(true) };
    const others = this.#lines.get(line) ?? [];
    this.#lines.set(line, [...others, waiting].toSorted(byNumber));
    this.#wakeFirst(line);
    return {
      untilFirst: (timeoutMs) => withinTime(first.promise, timeoutMs),
      [Symbol.dispose]: () => {
        this.#leave(line, waiting);
      },
    };
  }

  #leave(line: string, waiting: Waiting): void {
    const left = (this.#lines.get(line) ?? []).filter((other) => other !== waiting);
    if (left.length === 0) this.#lines.delete(line);
    else this.#lines.set(line, left);
    this.#wakeFirst(line);
  }

  /** Who was first stays awake when somebody with a lower number comes: the database puts them in order. */
  #wakeFirst(line: string): void {
    this.#lines.get(line)?.[0]?.wake();
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

/** Wakes those in this process who wait for something to change on a login. Whoever misses it looks again by itself. */
export class Doorbell {
  readonly #waiting = new Map<string, Set<() => void>>();

  notify(login: string): void {
    for (const wake of this.#waiting.get(login) ?? []) wake();
  }

  /** Resolves at the next ring or when the time is up. */
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
