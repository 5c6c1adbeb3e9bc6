const FIRST_MS = 200;
const MAX_MS = 5_000;
/** Spreads clients that were given the same time. */
const SPREAD_MS = 250;

/** How long to wait before the next attempt: what the service has asked for, otherwise exponentially longer with jitter. */
export function pauseMs(attempt: number, retryAfterMs: number | undefined, random = Math.random()): number {
  if (retryAfterMs !== undefined) return retryAfterMs + random * SPREAD_MS;
  const longest = Math.min(MAX_MS, FIRST_MS * 2 ** (attempt - 1));
  return longest * (0.5 + random / 2);
}

/** False when the signal was aborted meanwhile. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  return await new Promise((resolve) => {
    const end = (isOver: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      resolve(isOver);
    };
    const abort = (): void => end(false);
    const timer = setTimeout(() => end(true), ms);
    signal.addEventListener("abort", abort);
  });
}

/** Seconds of `Retry-After`; the service sends no date. */
export function retryAfterMs(headers: Headers): number | undefined {
  const seconds = /^\d+$/.exec(headers.get("retry-after") ?? "")?.[0];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
