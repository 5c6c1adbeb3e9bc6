import type { Level, Rate } from "./rate-limit.ts";
import type { RouteClass } from "./route.ts";

/**
 * What is left of the rate of a client, as in draft-ietf-httpapi-ratelimit-headers-10. A bucket is a quota of its burst in the window in
 * which it fills from empty; `t` is when it is full again, and when nothing is left, when the next request is accepted.
 */
export function rateLimitHeaders(
  name: RouteClass,
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
