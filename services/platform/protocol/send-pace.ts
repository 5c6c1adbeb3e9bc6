import { PERMIT_MS } from "../domain/permit.ts";

/** How many commands a session may be given at once; it writes one after the other. */
export type SendPace = {
  /** Notes how long a session was occupied by one command, in milliseconds. */
  readonly note: (ms: number) => void;
  readonly sendsOfASession: () => number;
};

/** More would save little: docs/decisions/work-in-sets.md. A crash leaves at most this many commands of each session unresolved. */
const MAX_SENDS = 8;
/** The last command of a session is written in this time, long before its permit expires. */
const WRITE_WITHIN_MS = PERMIT_MS / 4;
/** Until the first answers the platform counts as slow. */
const FIRST_MS = WRITE_WITHIN_MS / 2;
/** Share of the newest command in the mean. */
const WEIGHT = 1 / 8;

/** The slower the platform answers, the fewer permits are granted ahead: a permit that expires has to be granted again. */
export function sendPace(): SendPace {
  let recentMs = FIRST_MS;
  return {
    note(ms) {
      recentMs += (ms - recentMs) * WEIGHT;
    },
    sendsOfASession: () => Math.max(1, Math.min(MAX_SENDS, Math.floor(WRITE_WITHIN_MS / recentMs))),
  };
}
