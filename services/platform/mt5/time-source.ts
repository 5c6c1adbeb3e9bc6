import type { Clock } from "#kernel/values/clock.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { Mt5Error } from "./errors.ts";
import { MAX_CLOCK_DIFFERENCE_MS, type ServerClock, zoneClock } from "./server-clock.ts";

/** A clock that was compared with the local one. */
export type ComparedClock = ServerClock & {
  /** How far the server's clock was ahead of the local one, in ms; the server shows whole seconds, so it may be up to a second further. */
  readonly aheadMs: number;
};

/** The server's clock as it is known now. */
export type TimeSource = () => Promise<ServerClock>;
export type ComparedTime = () => Promise<ComparedClock>;

/** How long a comparison holds: at an unexpected time a change is noticed before the next longer period is read again. */
const HOLDS_MS = MINUTE_MS;

/**
 * A configured zone is compared with the server's clock, each minute: in another zone deals would count in another week, or not
 * be found. Only the first comparison is waited for: the zone itself is right at any date. Throws a RangeError for an unknown zone.
 */
export function zoneTime(zone: string, readServerMs: () => Promise<number>, now: Clock): ComparedTime {
  const clock = zoneClock(zone, now);
  const compare = shared(now, async () => {
    const before = now().getTime();
    const serverMs = await readServerMs();
    const aheadMs = serverMs - clock.toServerMs((before + now().getTime()) / 2);
    if (Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS) throw new Mt5Error("clock_differs", zoneDiffers(zone, aheadMs));
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

/** All callers share one comparison while it holds; after a failure the next caller compares again. */
function shared(now: Clock, compare: () => Promise<ComparedClock>): ComparedTime {
  let known: { readonly clock: Promise<ComparedClock>; readonly startMs: number } | undefined;
  return () => {
    const nowMs = now().getTime();
    if (known !== undefined && nowMs >= known.startMs && nowMs < known.startMs + HOLDS_MS) return known.clock;
    const comparing = { clock: compare(), startMs: nowMs };
    known = comparing;
    comparing.clock.catch(() => {
      if (known === comparing) known = undefined;
    });
    return comparing.clock;
  };
}

function zoneDiffers(zone: string, differenceMs: number): string {
  const minutes = Math.round(Math.abs(differenceMs) / MINUTE_MS);
  return `MT5_TIME_ZONE=${zone} differs from the platform's clock by ${minutes} minutes: correct it, or the clock that is wrong`;
}
