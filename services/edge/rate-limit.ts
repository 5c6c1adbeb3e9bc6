import type { Clock } from "#kernel/clock.ts";

export type Rate = {
  /** Tokens that come back each second. */
  readonly perSecond: number;
  /** Requests that are accepted at once after a pause. */
  readonly burst: number;
};

export type Buckets = {
  /** Takes one token. When there is none: how long until there is one. */
  readonly take: (key: string) => { readonly retryAfterMs: number } | undefined;
};

/** In thousandths of a token: what comes back in a millisecond is then a whole number. */
type Bucket = { level: number; filledAt: number };

const TOKEN = 1_000;

/** Limits the memory used. The key of a dropped bucket starts with a full one. */
const MAX_BUCKETS = 10_000;

/** One token bucket for each key, filled as time goes by. */
export function createBuckets({ perSecond, burst }: Rate, now: Clock): Buckets {
  const buckets = new Map<string, Bucket>();
  return {
    take(key) {
      const at = now().getTime();
      const bucket = buckets.get(key) ?? { level: burst * TOKEN, filledAt: at };
      const elapsedMs = Math.max(0, at - bucket.filledAt);
      const level = Math.min(burst * TOKEN, bucket.level + elapsedMs * perSecond);
      const isGranted = level >= TOKEN;
      if (!buckets.has(key) && buckets.size >= MAX_BUCKETS) forgetFirst(buckets);
      buckets.set(key, { level: isGranted ? level - TOKEN : level, filledAt: at });
      return isGranted ? undefined : { retryAfterMs: Math.ceil((TOKEN - level) / perSecond) };
    },
  };
}

function forgetFirst(buckets: Map<string, Bucket>): void {
  for (const key of buckets.keys()) {
    buckets.delete(key);
    return;
  }
}
