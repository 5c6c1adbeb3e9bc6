import type { Clock } from "#kernel/values/clock.ts";

export type Rate = {
  /** Tokens that come back each second. */
  readonly perSecond: number;
  /** Requests that are accepted at once after a pause. */
  readonly burst: number;
};

type Level = {
  readonly remaining: number;
  /** Until one token more is there. */
  readonly nextInMs: number;
  readonly fullInMs: number;
};

/** In thousandths of a token: what comes back in a millisecond is then a whole number. */
type Bucket = { level: number; filledAt: number };

const TOKEN = 1_000;

/** Limits the memory used. The key of a dropped bucket starts with a full one. */
const MAX_BUCKETS = 10_000;

/** One token bucket for each key, filled as time goes by. */
export function createBuckets({ perSecond, burst }: Rate, now: Clock) {
  const buckets = new Map<string, Bucket>();
  const full = burst * TOKEN;
  const levelAt = (key: string, at: number): number => {
    const bucket = buckets.get(key) ?? { level: full, filledAt: at };
    return Math.min(full, bucket.level + Math.max(0, at - bucket.filledAt) * perSecond);
  };
  return {
    /** What is left; takes nothing. */
    levelOf(key: string): Level {
      const level = levelAt(key, now().getTime());
      const remaining = Math.floor(level / TOKEN);
      const msUntil = (wanted: number): number => Math.ceil((Math.min(full, wanted) - level) / perSecond);
      return { remaining, nextInMs: msUntil((remaining + 1) * TOKEN), fullInMs: msUntil(full) };
    },
    /** Takes one token. When there is none: how long until there is one. */
    take(key: string): { readonly retryAfterMs: number } | undefined {
      const at = now().getTime();
      const level = levelAt(key, at);
      const isGranted = level >= TOKEN;
      if (!buckets.has(key) && buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value ?? key);
      buckets.set(key, { level: isGranted ? level - TOKEN : level, filledAt: at });
      return isGranted ? undefined : { retryAfterMs: Math.ceil((TOKEN - level) / perSecond) };
    },
  };
}

/**
 * What is left of the rate of a client, as in draft-ietf-httpapi-ratelimit-headers-10. A bucket is a quota of its burst in the window in
 * which it fills from empty; `t` is when it is full again, and when nothing is left, when the next request is accepted.
 */
export function rateLimitHeaders(
  name: string,
  { perSecond, burst }: Rate,
  { remaining, nextInMs, fullInMs }: Level,
): Record<string, string> {
  const window = Math.max(1, Math.ceil(burst / perSecond));
  const resetMs = remaining === 0 ? nextInMs : fullInMs;
  return {
    "ratelimit-policy": `"${name}";q=${burst};w=${window}`,
    ratelimit: `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`,
  };
}
