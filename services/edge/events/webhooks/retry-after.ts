import { DAY_MS, SECOND_MS } from "#kernel/duration.ts";

/** Also when an endpoint asks for less: it is not asked again at once. */
const LEAST_MS = 5 * SECOND_MS;
const MOST_MS = DAY_MS;
const SECONDS = /^\d+$/;
/** The form of RFC 9110, and the two older ones. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** How long to wait, in milliseconds; undefined for what is no Retry-After. */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  const value = text?.trim() ?? "";
  if (SECONDS.test(value)) return bounded(Number(value) * SECOND_MS);
  if (!HTTP_DATE.test(value)) return undefined;
  // The oldest form has no zone, and is in GMT as well.
  const at = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(at) ? undefined : bounded(at - now);
}

function bounded(ms: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, ms));
}
