import { Refusal } from "../values/refusal.ts";

/** Short, because a service that restarts is back within a second or two. */
export const FIRST_RETRY_MS = 250;
/** Long enough to spare a service that is down, short enough for an operator who watches the repair. */
export const MAX_RETRY_MS = 30_000;
/** For the relay and the readers of feeds: after an outage of the database or the broker, events arrive within this time. */
export const MAX_FEED_RETRY_MS = 5_000;

/** After this time another replica may take a row that a crashed replica has claimed. An attempt takes at most 10 s. */
export const CLAIM_MS = 15_000;

/** After the deadline of its caller a replica may still work this long on a saga; then the recovery job takes it over. */
export const RECOVERY_GRACE_MS = 1_000;

/** The pause after a failed attempt: doubles with each attempt up to the limit. */
export function backOffMs(attempts: number, maxMs = MAX_RETRY_MS): number {
  return Math.min(maxMs, FIRST_RETRY_MS * 2 ** Math.max(attempts - 1, 0));
}

export function later(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}

/** The `last_error` of a row that waits for its next attempt. */
export function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.code : "no answer";
}
