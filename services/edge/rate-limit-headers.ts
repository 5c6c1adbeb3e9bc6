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

/** The same for the documentation. */
export const RATE_LIMIT_HEADERS = {
  "RateLimit-Policy": {
    type: "string",
    description:
      "Requests of this kind (`read`, `money`, `create`) that the client of the key may send at once (`q`), and the seconds in which they come back (`w`). As in draft-ietf-httpapi-ratelimit-headers-10.",
    examples: ['"read";q=4000;w=2'],
  },
  RateLimit: {
    type: "string",
    description: "Requests of this kind that are left (`r`), and the seconds until all are back (`t`).",
    examples: ['"read";r=3999;t=1'],
  },
} as const;
