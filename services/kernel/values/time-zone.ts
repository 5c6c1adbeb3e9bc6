import { DAY_MS, MINUTE_MS } from "./duration.ts";

/** `Europe/Athens`, or a zone and how far the clock is ahead of it: `America/New_York+07:00`. */
const SHIFTED_ZONE = /^(.+)([+-])(\d{2}):([0-5]\d)$/;
const DAY_LENGTH = "2026-01-31".length;

/** Days and times of one clock. */
export type Calendar = {
  /** The day that the clock shows at an instant, such as 2026-01-31. */
  readonly dayOf: (at: Date) => string;
  /**
   * The instant at which the clock shows a time, which is given as if it were UTC. Of a repeated hour it is the first one; the time of
   * a skipped hour is as much later as the clock was set forward.
   */
  readonly toInstant: (shown: Date) => Date;
};

export const UTC: Calendar = { dayOf: isoDay, toInstant: (shown) => shown };

/** Minutes that the clock of a zone is ahead of UTC at an instant. Throws a RangeError for an unknown zone. */
export function offsetsOf(name: string): (utcMs: number) => number {
  const [, zone = name, sign, hours, minutes] = SHIFTED_ZONE.exec(name) ?? [];
  const ahead = signed(sign, hours, minutes);
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  return (utcMs) => {
    const shown = format.formatToParts(utcMs).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, ofSign, ofHours, ofMinutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(shown) ?? [];
    return ahead + signed(ofSign, ofHours, ofMinutes);
  };
}

export function isTimeZone(name: string): boolean {
  try {
    offsetsOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Throws a RangeError for an unknown zone. */
export function calendarOf(zone: string): Calendar {
  const offsetMs = offsetsOf(zone);
  const shownAt = (utcMs: number) => utcMs + offsetMs(utcMs) * MINUTE_MS;
  return {
    dayOf: (at) => isoDay(new Date(shownAt(at.getTime()))),
    toInstant(shown) {
      const shownMs = shown.getTime();
      // A clock changes at most once within two days.
      const [before, after] = [offsetMs(shownMs - DAY_MS), offsetMs(shownMs + DAY_MS)].map(
        (minutes) => shownMs - minutes * MINUTE_MS,
      ) as [number, number];
      const fitting = [before, after].filter((utcMs) => shownAt(utcMs) === shownMs);
      return new Date(fitting.length === 0 ? before : Math.min(...fitting));
    },
  };
}

export type Day = { readonly day: string; readonly from: Date; readonly to: Date };

/** The days of a period, each with the instants at which it begins and ends; the ends of the period cut the first and the last one. */
export function daysOf({ dayOf, toInstant }: Calendar, from: Date, to: Date): Day[] {
  const days: Day[] = [];
  for (let begin = from; begin < to;) {
    const day = dayOf(begin);
    const end = toInstant(new Date(Date.parse(day) + DAY_MS));
    days.push({ day, from: begin, to: end < to ? end : to });
    begin = end;
  }
  return days;
}

function isoDay(at: Date): string {
  return at.toISOString().slice(0, DAY_LENGTH);
}

function signed(sign: string | undefined, hours: string | undefined, minutes: string | undefined): number {
  const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === "-" ? -size : size;
}
