/** Wakes those in this process who wait for something to change on a login. Whoever misses it looks again by itself. */
export class Doorbell {
  readonly #waiting = new Map<string, Set<() => void>>();

  ring(login: string): void {
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
