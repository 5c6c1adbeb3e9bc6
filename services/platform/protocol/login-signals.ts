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
