import { MINUTE_MS } from "#kernel/values/duration.ts";

/** Minutes that the zone's wall clock is ahead of UTC at an instant. */
export type ZoneOffset = (utcMs: number) => number;

/** Zones change their clocks at multiples of a quarter of an hour. */
const SLOT_MS = 15 * MINUTE_MS;

/** `Europe/Athens`, or a zone and how far the clock is ahead of it: `America/New_York+07:00`. */
const SHIFTED_ZONE = /^(.+)([+-]\d{2}:[0-5]\d)$/;

export function zoneOffset(name: string): ZoneOffset {
  const [, zone = name, ahead] = SHIFTED_ZONE.exec(name) ?? [];
  const aheadMinutes = ahead === undefined ? 0 : parseOffset(`GMT${ahead}`);
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  let slot = Number.NaN;
  let offset = 0;
  return (utcMs) => {
    const asked = Math.floor(utcMs / SLOT_MS);
    if (asked !== slot) {
      slot = asked;
      const shown = format.formatToParts(slot * SLOT_MS).find(({ type }) => type === "timeZoneName")?.value ?? "";
      offset = aheadMinutes + parseOffset(shown);
    }
    return offset;
  };
}

/** The server's wall clock, written as if it were UTC: the form of all times of the platform. */
export function wallClockMs(utcMs: number, offset: ZoneOffset): number {
  return utcMs + offset(utcMs) * MINUTE_MS;
}

export function isTimeZone(zone: string): boolean {
  try {
    zoneOffset(zone);
    return true;
  } catch {
    return false;
  }
}

/** GMT, GMT+02:00 or GMT-03:30. */
function parseOffset(text: string): number {
  const match = /^GMT([+-])(\d{2}):(\d{2})/.exec(text);
  if (match === null) return 0;
  const [, sign, hours, minutes] = match;
  const size = Number(hours) * 60 + Number(minutes);
  return sign === "-" ? -size : size;
}
