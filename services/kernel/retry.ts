import { Refusal } from "./refusal.ts";

/** A restarting neighbour is back within a second or two: the first tries find it soon. */
const FIRST_RETRY_MS = 250;
/** Long enough to spare a neighbour that is down, short enough for an operator who watches the repair. */
const MAX_RETRY_MS = 30_000;

/** A replica that died with a claimed row is followed by another after this; no attempt lasts as long (at most 10 s). */
export const CLAIM_MS = 15_000;

/** The pause after a failed try: doubles with each try up to the limit. */
export function backOffMs(tries: number, maxMs = MAX_RETRY_MS): number {
  return Math.min(maxMs, FIRST_RETRY_MS * 2 ** Math.max(tries - 1, 0));
}

export function later(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}

/** The `last_error` of a row that waits for its next try. */
export function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.code : "no answer";
}
