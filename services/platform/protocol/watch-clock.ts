import type { Deps } from "../deps.ts";
import type { ClockReading } from "../domain/watched-clock.ts";
import { readClockTimed } from "../store/clock.ts";

type Watching = Pick<Deps, "log" | "sender">;

/** Notes a reading of the database's clock; a step forbids that any absence is declared for a whole quiet period. */
export function watchClock({ log, sender }: Watching, reading: ClockReading): void {
  const steppedMs = sender.clock.note(reading);
  if (steppedMs === undefined) return;
  log.error("clock of the database was stepped, no absence is declared for a quiet period", { duration_ms: steppedMs });
}

/** The time of the database in milliseconds since 1970. */
export async function readWatchedClock(deps: Watching & Pick<Deps, "pool">): Promise<number> {
  const reading = await readClockTimed(deps.pool);
  watchClock(deps, reading);
  return reading.databaseMs;
}
