import type { Clock } from "#kernel/clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#kernel/duration.ts";
import { Mt5Error } from "./errors.ts";

/** Converts the times of the platform, which are its own wall clock written in the form of UTC. */
export type ServerClock = {
  readonly toUtcMs: (serverMs: number) => number;
  readonly toServerMs: (utcMs: number) => number;
  /** Minutes that the wall clock is ahead of UTC at an instant. */
  readonly offsetMinutes: (utcMs: number) => number;
};

/** A clock that was compared with the local one. */
export type ComparedClock = ServerClock & {
  /** How far the server's clock was ahead of the local one, in ms; the server shows whole seconds, so it may be up to a second further. */
  readonly aheadMs: number;
};

/** The server's clock as it is known now. */
export type TimeSource = () => Promise<ServerClock>;
export type ComparedTime = () => Promise<ComparedClock>;

/**
 * How far a read of deals extends beyond an instant: differences of clocks, time zones and daylight saving changes may hide a
 * deal from a narrower window.
 */
export const CLOCK_WINDOW_MS = DAY_MS;
/** All current time zones differ from UTC by a multiple of this. */
const OFFSET_STEP_MINUTES = 15;
/** A larger difference from every offset means that the server's clock or the local one is wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * MINUTE_MS;

/** A clock with a measured offset: right near the measurement, an hour wrong beyond a daylight-saving change. */
export function fixedClock(minutes: number): ServerClock {
  return {
    toUtcMs: (serverMs) => serverMs - minutes * MINUTE_MS,
    toServerMs: (utcMs) => utcMs + minutes * MINUTE_MS,
    offsetMinutes: () => minutes,
  };
}

/** A clock of an IANA time zone: right at any date. Throws a RangeError for an unknown name. */
export function zoneClock(zone: string): ServerClock {
  const offsetMinutes = offsetsOf(zone);
  return {
    toUtcMs(serverMs) {
      // Around a daylight-saving change both offsets may fit: the earlier of the two instants is taken.
      const dayMs = 1_440 * MINUTE_MS;
      const offsets = [offsetMinutes(serverMs - dayMs), offsetMinutes(serverMs + dayMs)];
      const candidates = offsets.map((minutes) => serverMs - minutes * MINUTE_MS);
      const exact = candidates.filter((utcMs) => utcMs + offsetMinutes(utcMs) * MINUTE_MS === serverMs);
      // In the hour that is skipped in spring no instant fits; the offset before the change is taken.
      return exact.length > 0 ? Math.min(...exact) : Math.max(...candidates);
    },
    toServerMs: (utcMs) => utcMs + offsetMinutes(utcMs) * MINUTE_MS,
    offsetMinutes,
  };
}

/** The offset of a clock that was just read, in minutes, rounded because of latency and clock differences. */
export function measuredOffset(serverMs: number, utcMs: number): number {
  return Math.round((serverMs - utcMs) / MINUTE_MS / OFFSET_STEP_MINUTES) * OFFSET_STEP_MINUTES;
}

const CLOCKS_DIFFER = "the platform's clock and the local one differ by more than five minutes: correct both clocks";

function zoneDiffers(zone: string, differenceMs: number): string {
  const minutes = Math.round(differenceMs / MINUTE_MS);
  return `MT5_TIME_ZONE=${zone} differs from the platform's clock by ${minutes} minutes: correct it, or remove it`;
}

function offsetsOf(zone: string): (utcMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  return (utcMs) => {
    const name = format.formatToParts(utcMs).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name) ?? [];
    const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
    return sign === "-" ? -size : size;
  };
}

/**
 * Without a configured zone the offset is measured once in each hour: daylight-saving changes happen on the hour, so a
 * measurement is never used across a change. `readServerMs` reads the server's wall clock.
 */
export function measuredTime(readServerMs: () => Promise<number>, now: Clock): ComparedTime {
  return hourly(now, async () => {
    const { serverMs, utcMs } = await readBoth(readServerMs, now);
    const clock = fixedClock(measuredOffset(serverMs, utcMs));
    const aheadMs = serverMs - clock.toServerMs(utcMs);
    requireSmall(Math.abs(aheadMs), () => CLOCKS_DIFFER);
    return { ...clock, aheadMs };
  });
}

/**
 * A configured zone is compared with the server's clock, in each hour: in another zone deals would count in another week, or not
 * be found. Only the first comparison is waited for: the zone itself is right at any date. Throws a RangeError for an unknown zone.
 */
export function zoneTime(zone: string, readServerMs: () => Promise<number>, now: Clock): ComparedTime {
  const clock = zoneClock(zone);
  const compare = hourly(now, async () => {
    const { serverMs, utcMs } = await readBoth(readServerMs, now);
    const aheadMs = serverMs - clock.toServerMs(utcMs);
    const difference = Math.abs(aheadMs);
    requireSmall(difference, () => zoneDiffers(zone, difference));
    return { ...clock, aheadMs };
  });
  let agreed: Promise<ComparedClock> | undefined;
  return () => {
    const compared = compare();
    compared.then(
      () => (agreed = compared),
      (error: unknown) => {
        if (error instanceof Mt5Error && error.problem === "clock_differs") agreed = undefined;
      },
    );
    return agreed ?? compared;
  };
}

/** What is measured once in each hour; a failure is measured again by the next caller. */
function hourly(now: Clock, measure: () => Promise<ComparedClock>): ComparedTime {
  let known: { readonly hour: number; readonly clock: Promise<ComparedClock> } | undefined;
  return () => {
    const hour = Math.floor(now().getTime() / HOUR_MS);
    if (known?.hour !== hour) {
      const clock = measure();
      known = { hour, clock };
      clock.catch(() => {
        if (known?.clock === clock) known = undefined;
      });
    }
    return known.clock;
  };
}

async function readBoth(readServerMs: () => Promise<number>, now: Clock) {
  const before = now().getTime();
  const serverMs = await readServerMs();
  return { serverMs, utcMs: (before + now().getTime()) / 2 };
}

function requireSmall(differenceMs: number, message: () => string): void {
  if (differenceMs > MAX_CLOCK_DIFFERENCE_MS) throw new Mt5Error("clock_differs", message());
}
