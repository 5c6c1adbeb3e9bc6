const LIMIT = /^"(?<name>[^"]+)";r=(?<remaining>\d+);t=(?<seconds>\d+)$/;

/** Holds requests back while the last answer to a request of their kind said that nothing is left (`RateLimit`). */
export type RateLimits = {
  readonly waitMs: (operation: string) => number;
  readonly note: (operation: string, headers: Headers) => void;
};

export function createRateLimits(now: () => number = Date.now): RateLimits {
  /** The answers say to which limit an operation belongs. */
  const limitOf = new Map<string, string>();
  const blockedUntil = new Map<string, number>();
  return {
    waitMs(operation) {
      const until = blockedUntil.get(limitOf.get(operation) ?? "") ?? 0;
      return Math.max(0, until - now());
    },
    note(operation, headers) {
      const { name, remaining, seconds } = LIMIT.exec(headers.get("ratelimit") ?? "")?.groups ?? {};
      if (name === undefined) return;
      limitOf.set(operation, name);
      if (Number(remaining) > 0) blockedUntil.delete(name);
      else blockedUntil.set(name, now() + Number(seconds) * 1_000);
    },
  };
}
