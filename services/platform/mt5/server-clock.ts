/** The platform tells all its times as its own wall clock, written as if that were UTC. This converts them. */
export type ServerClock = {
  readonly toUtcMs: (serverMs: number) => number;
  readonly toServerMs: (utcMs: number) => number;
  /** How far the wall clock is ahead of UTC at an instant; worth storing with what was converted. */
  readonly offsetMinutes: (utcMs: number) => number;
};

const MINUTE_MS = 60_000;
/** All zones of today differ from UTC by a multiple of this. */
const OFFSET_STEP_MINUTES = 15;

/** A clock that was measured: good for times near the measurement, an hour wrong beyond a change of clocks. */
export function fixedClock(minutes: number): ServerClock {
  return {
    toUtcMs: (serverMs) => serverMs - minutes * MINUTE_MS,
    toServerMs: (utcMs) => utcMs + minutes * MINUTE_MS,
    offsetMinutes: () => minutes,
  };
}

/** A clock of an IANA zone: right at any date. Throws a RangeError for a name that is none. */
export function zoneClock(zone: string): ServerClock {
  const offsetMinutes = offsetsOf(zone);
  return {
    toUtcMs(serverMs) {
      // Around a change both offsets may fit: of the two instants with this wall clock the earlier one is taken.
      const dayMs = 1_440 * MINUTE_MS;
      const offsets = [offsetMinutes(serverMs - dayMs), offsetMinutes(serverMs + dayMs)];
      const candidates = offsets.map((minutes) => serverMs - minutes * MINUTE_MS);
      const exact = candidates.filter((utcMs) => utcMs + offsetMinutes(utcMs) * MINUTE_MS === serverMs);
      // In the hour that is skipped in spring no instant fits; the offset before the change is as good as any.
      return exact.length > 0 ? Math.min(...exact) : Math.max(...candidates);
    },
    toServerMs: (utcMs) => utcMs + offsetMinutes(utcMs) * MINUTE_MS,
    offsetMinutes,
  };
}

/** The offset of a clock that was just read, rounded because the two machines and the way between them are not exact. */
export function measuredOffset(serverMs: number, utcMs: number): number {
  return Math.round((serverMs - utcMs) / MINUTE_MS / OFFSET_STEP_MINUTES) * OFFSET_STEP_MINUTES;
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
