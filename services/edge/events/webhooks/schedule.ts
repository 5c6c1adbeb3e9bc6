import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/duration.ts";

/** An event that was refused for so long is given up, and an endpoint that has accepted none for so long is disabled. */
export const GIVE_UP_AFTER_MS = 3 * DAY_MS;
/** After so many failures in a row nothing is sent to an endpoint but one attempt from time to time. */
export const FAILURES_BEFORE_PAUSE = 3;
const FIRST_MS = 5 * SECOND_MS;
const LONGEST_MS = HOUR_MS;
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;

/** Until the next attempt of an event; `random` spreads those that failed together, between half of the time and all of it. */
export function retryMs(attempts: number, random: number): number {
  return spread(Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(attempts - 1, 0)), random);
}

/** How long an endpoint rests after so many failures in a row. Shorter than the pause of an event, so that one that is back is found soon. */
export function pauseMs(failures: number, random: number): number {
  if (failures < FAILURES_BEFORE_PAUSE) return 0;
  return spread(Math.min(LONGEST_PAUSE_MS, FIRST_MS * 2 ** (failures - FAILURES_BEFORE_PAUSE)), random);
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}
