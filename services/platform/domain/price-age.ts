import { DAY_MS, MINUTE_MS } from "#kernel/values/duration.ts";

/** From and to, in minutes of a day of the server's wall clock; the end is not included. */
export type Session = { readonly open: number; readonly close: number };

/** The trading sessions of each day of the week, from Sunday on. */
export type WeekOfSessions = readonly (readonly Session[])[];

/** An instant, and the wall clock of the server then. */
export type ServerTime = { readonly at: Date; readonly serverMs: number };

const DAYS_OF_WEEK = 7;
/** The first of January 1970 was a Thursday, and weeks begin on Sunday. */
const FIRST_WEEKDAY = 4;

/** By its age alone, a price is a mark. */
export function isRecent(tick: ServerTime, now: ServerTime, maxAgeMs: number): boolean {
  return now.at.getTime() - tick.at.getTime() <= maxAgeMs;
}

/**
 * An older price is still one at which the market trades when it came in the session that is open now. A session that has begun without a
 * price proves nothing: the first one may be far from the last one of the session before, and on a holiday none comes.
 */
export function isOfOpenSession(tick: ServerTime, now: ServerTime, week: WeekOfSessions): boolean {
  const day = Math.floor(now.serverMs / DAY_MS);
  const dayMs = day * DAY_MS;
  const minute = (now.serverMs - dayMs) / MINUTE_MS;
  const session = week[(day + FIRST_WEEKDAY) % DAYS_OF_WEEK]?.find(
    ({ open, close }) => open <= minute && minute < close,
  );
  return session !== undefined && tick.serverMs >= dayMs + session.open * MINUTE_MS && tick.serverMs <= now.serverMs;
}
