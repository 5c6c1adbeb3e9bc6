import { type Clock, systemClock } from "#kernel/values/clock.ts";
import { DAY_MS, MINUTE_MS } from "#kernel/values/duration.ts";
import { offsetsOf } from "#kernel/values/time-zone.ts";
import { Mt5Error } from "./errors.ts";

/** Converts the times of the platform, which are its own wall clock written in the form of UTC. */
export type ServerClock = {
  /**
   * The instant of a wall-clock time. In the hour that daylight saving repeats two instants have the same time: the later one is
   * taken, unless it has not come yet.
   */
  readonly toUtcMs: (serverMs: number) => number;
  readonly toServerMs: (utcMs: number) => number;
  /** Minutes that the wall clock is ahead of UTC at an instant. */
  readonly offsetMinutes: (utcMs: number) => number;
  /** Wall-clock times between which the clock shows every instant of a period. */
  readonly serverPeriod: (fromMs: number, toMs: number) => { readonly fromMs: number; readonly toMs: number };
  /** Times in their order; all times of a repeated hour are equal, because the clock shows them twice. */
  readonly orderMs: (serverMs: number) => number;
};

/**
 * How far a read of deals extends beyond an instant: differences of clocks, time zones and daylight saving changes may hide a
 * deal from a narrower window.
 */
export const CLOCK_WINDOW_MS = DAY_MS;
/** A larger difference from every offset means that the server's clock or the local one is wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * MINUTE_MS;
const QUARTER_MS = 15 * MINUTE_MS;
/** Of more days than one read shows; then the memory begins anew. */
const MAX_QUARTERS = 100_000;

/**
 * A clock of an IANA time zone: right at any date but for the repeated hour. Many brokers end their day at five in the afternoon of New
 * York, for which there is no zone: `America/New_York+07:00` is that clock. Throws a RangeError for an unknown name.
 */
export function zoneClock(name: string, now: Clock = systemClock): ServerClock {
  const offsetMs = quarterly(offsetsOf(name));
  const toServerMs = (utcMs: number) => utcMs + offsetMs(utcMs);
  /** The instants at which the clock shows a time: two in a repeated hour, none in a skipped one. A clock changes at most once within two days. */
  const instantsOf = (serverMs: number): readonly number[] => {
    const [before, after] = [serverMs - offsetMs(serverMs - DAY_MS), serverMs - offsetMs(serverMs + DAY_MS)];
    // At the change itself the clock shows both times.
    const isShown = (utcMs: number) => toServerMs(utcMs) === serverMs || toServerMs(utcMs - 1) === serverMs - 1;
    return (before === after ? [before] : [before, after]).filter(isShown);
  };
  /** The first instant of the new offset. */
  const changeAround = (serverMs: number): number => {
    const isOver = offsetMs(serverMs + DAY_MS);
    let utcMs = Math.floor((serverMs - DAY_MS) / QUARTER_MS) * QUARTER_MS;
    while (offsetMs(utcMs) !== isOver) utcMs += QUARTER_MS;
    return utcMs;
  };
  return {
    toServerMs,
    offsetMinutes: (utcMs) => offsetMs(utcMs) / MINUTE_MS,
    toUtcMs(serverMs) {
      const instants = instantsOf(serverMs);
      const latestMs = now().getTime() + MAX_CLOCK_DIFFERENCE_MS;
      // A time that the clock never shows was set by hand, and counts as the change.
      return instants.findLast((utcMs) => utcMs <= latestMs) ?? instants[0] ?? changeAround(serverMs);
    },
    serverPeriod: (fromMs, toMs) => ({
      fromMs: fromMs + Math.min(offsetMs(fromMs - 1), offsetMs(Math.min(fromMs + DAY_MS, toMs))),
      toMs: toMs + Math.max(offsetMs(toMs), offsetMs(Math.max(toMs - DAY_MS, fromMs - 1))),
    }),
    orderMs: (serverMs) => (instantsOf(serverMs).length < 2 ? serverMs : toServerMs(changeAround(serverMs))),
  };
}

/** Offsets in ms, each computed once: clocks change at a full quarter of an hour. */
function quarterly(minutesAt: (utcMs: number) => number): (utcMs: number) => number {
  const known = new Map<number, number>();
  return (utcMs) => {
    const quarter = Math.floor(utcMs / QUARTER_MS);
    const before = known.get(quarter);
    if (before !== undefined) return before;
    if (known.size >= MAX_QUARTERS) known.clear();
    const offsetMs = minutesAt(quarter * QUARTER_MS) * MINUTE_MS;
    known.set(quarter, offsetMs);
    return offsetMs;
  };
}

/** A clock that was compared with the local one. */
type ComparedClock = ServerClock & {
  /** How far the server's clock was ahead of the local one, in ms; the server shows whole seconds, so it may be up to a second further. */
  readonly aheadMs: number;
};

/** The server's clock as it is known now. */
export type TimeSource = () => Promise<ServerClock>;

/** How long a comparison holds: at an unexpected time a change is noticed before the next longer period is read again. */
const HOLDS_MS = MINUTE_MS;

/**
 * A configured zone is compared with the server's clock, each minute: in another zone deals would count in another week, or not
 * be found. Only the first comparison is waited for: the zone itself is right at any date. All callers share one comparison while it holds;
 * after a failure the next caller compares again. Throws a RangeError for an unknown zone.
 */
export function zoneTime(zone: string, readServerMs: () => Promise<number>, now: Clock): () => Promise<ComparedClock> {
  const clock = zoneClock(zone, now);
  let agreed: ComparedClock | undefined;
  let last: { readonly compared: Promise<ComparedClock>; readonly startMs: number } | undefined;
  const compare = async (): Promise<ComparedClock> => {
    const before = now().getTime();
    const serverMs = await readServerMs();
    const aheadMs = serverMs - clock.toServerMs((before + now().getTime()) / 2);
    const differs = Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS;
    agreed = differs ? undefined : { ...clock, aheadMs };
    if (agreed === undefined) throw new Mt5Error("clock_differs", zoneDiffers(zone, aheadMs));
    return agreed;
  };
  return async () => {
    const nowMs = now().getTime();
    if (last === undefined || nowMs < last.startMs || nowMs >= last.startMs + HOLDS_MS) {
      const comparing = { compared: compare(), startMs: nowMs };
      last = comparing;
      comparing.compared.catch(() => {
        if (last === comparing) last = undefined;
      });
    }
    return agreed ?? (await last.compared);
  };
}

function zoneDiffers(zone: string, differenceMs: number): string {
  const minutes = Math.round(Math.abs(differenceMs) / MINUTE_MS);
  return `MT5_TIME_ZONE=${zone} differs from the platform's clock by ${minutes} minutes: correct it, or the clock that is wrong`;
}
