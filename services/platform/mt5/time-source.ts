import type { Clock } from "#kernel/clock.ts";
import { Mt5Error } from "./errors.ts";
import { fixedClock, measuredOffset, zoneClock } from "./server-clock.ts";
import type { ServerClock } from "./server-clock.ts";

/** The server's clock as it is known now. */
export type TimeSource = () => Promise<ServerClock>;

const HOUR_MS = 3_600_000;
/** A wall clock that is further from any offset than this belongs to a machine whose own clock is wrong, or to us. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** With a zone nothing is ever asked. */
export function zoneTime(zone: string): TimeSource {
  const clock = zoneClock(zone);
  return () => Promise.resolve(clock);
}

/**
 * Without one the offset is measured, and again in every new hour: clocks are changed on the hour, so a measurement is
 * never used across a change. `readServerMs` asks the server for its wall clock.
 */
export function measuredTime(readServerMs: () => Promise<number>, now: Clock): TimeSource {
  let known: { readonly hour: number; readonly clock: Promise<ServerClock> } | undefined;
  const measure = async () => {
    const before = now().getTime();
    const serverMs = await readServerMs();
    const utcMs = (before + now().getTime()) / 2;
    const minutes = measuredOffset(serverMs, utcMs);
    const difference = Math.abs(fixedClock(minutes).toUtcMs(serverMs) - utcMs);
    if (difference <= MAX_CLOCK_DIFFERENCE_MS) return fixedClock(minutes);
    throw new Mt5Error("bad_answer", "the platform's clock and ours differ by more than five minutes: set both right");
  };
  return () => {
    const hour = Math.floor(now().getTime() / HOUR_MS);
    if (known?.hour !== hour) {
      const clock = measure();
      known = { hour, clock };
      // A failure is not remembered: the next one who asks measures again.
      clock.catch(() => {
        if (known?.clock === clock) known = undefined;
      });
    }
    return known.clock;
  };
}
