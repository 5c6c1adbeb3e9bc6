/** Pauses between attempts to connect: a platform blocks an address with many failed attempts. */
export type Backoff = { readonly firstMs: number; readonly lastMs: number };

export const DEFAULT_BACKOFF: Backoff = { firstMs: 1_000, lastMs: 30_000 };

/** Doubles with each failure, less up to a quarter at random, so that replicas do not reconnect at the same time. */
export function backoffDelay(failures: number, { firstMs, lastMs }: Backoff, random = Math.random): number {
  const full = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(firstMs, full * (1 - random() / 4));
}

export type ReconnectPause = {
  /** Time until the next attempt is allowed; 0 = now. */
  readonly pauseMs: () => number;
  readonly failures: () => number;
  readonly failed: () => void;
  readonly worked: () => void;
};

export function createReconnectPause(backoff: Backoff): ReconnectPause {
  let failures = 0;
  let notBefore = 0;
  return {
    pauseMs: () => Math.max(0, notBefore - performance.now()),
    failures: () => failures,
    failed() {
      failures += 1;
      notBefore = performance.now() + backoffDelay(failures, backoff);
    },
    worked() {
      failures = 0;
      notBefore = 0;
    },
  };
}
