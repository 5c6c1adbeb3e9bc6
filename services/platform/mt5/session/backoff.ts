/** Pauses between attempts to connect: a platform blocks an address with many failed attempts. */
export type Backoff = { readonly firstMs: number; readonly lastMs: number };

export const DEFAULT_BACKOFF: Backoff = { firstMs: 1_000, lastMs: 30_000 };

/** Doubles with each failure, less up to a quarter at random, so that replicas do not reconnect at the same time. */
export function backoffDelay(failures: number, { firstMs, lastMs }: Backoff, random = Math.random): number {
  const full = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(firstMs, full * (1 - random() / 4));
}

export class ReconnectPause {
  readonly #backoff: Backoff;
  failures = 0;
  #notBefore = 0;

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  /** Time until the next attempt is allowed; 0 = now. */
  pauseMs(): number {
    return Math.max(0, this.#notBefore - performance.now());
  }

  failed(): void {
    this.failures += 1;
    this.#notBefore = performance.now() + backoffDelay(this.failures, this.#backoff);
  }

  worked(): void {
    this.failures = 0;
    this.#notBefore = 0;
  }
}
