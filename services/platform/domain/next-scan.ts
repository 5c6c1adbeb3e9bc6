import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import type { Leg } from "./leg.ts";

/** Delay of the first scan after a lost answer: the history usually shows the deal at once. */
const FIRST_SCAN_MS = 250;
/** Pauses before a further attempt: the first is short, as a caller may wait; the last spares a platform that throttles. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;
/** Pauses of a leg that is attempted for days, by its number of attempts, so that 31 of them last for four days. */
const PAUSES_FOR_DAYS_MS = [FIRST_PAUSE_MS, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];
const MAX_PAUSE_FOR_DAYS_MS = 14_400_000;
/** The history may show a new deal this late, also with a shorter quiet period. */
export const SHOWN_WITHIN_MS = 60_000;

/** Milliseconds until a worker has to process a leg that just reached this state; undefined when it never has to. */
export function nextScanMs({ kind, state, attempt }: Leg): number | undefined {
  switch (state) {
    case "UNKNOWN":
      return FIRST_SCAN_MS;
    // After a failed attempt.
    case "INTENT":
      return pauseMs(kind, Math.max(attempt - 1, 0));
    case "APPLIED":
    case "SENDING":
    case "REFUSED":
    case "REVIEW":
      return undefined;
  }
}

/** The pause before the next attempt, after `failed` earlier pauses. */
function pauseMs(kind: LegKind, failed: number): number {
  if (LEG_KINDS[kind].whenExhausted === "review") return PAUSES_FOR_DAYS_MS[failed] ?? MAX_PAUSE_FOR_DAYS_MS;
  return Math.min(FIRST_PAUSE_MS * 2 ** failed, MAX_PAUSE_MS);
}

/** Milliseconds after which the history has to show a new deal: only then does its absence mean that it was deleted. */
export function shownWithinMs(quietPeriodMs: number): number {
  return Math.max(SHOWN_WITHIN_MS, quietPeriodMs);
}
