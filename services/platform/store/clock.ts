import { one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { ClockReading } from "../domain/watched-clock.ts";

/**
 * The time of the database in milliseconds since 1970: the one clock that all processes share. Proofs by time use it,
 * because the clock of a process may be changed while it runs.
 */
export async function readClock(db: Queryable): Promise<number> {
  const { now } = await one<{ now: Date }>(db, sql`select clock_timestamp() as now`);
  return now.getTime();
}

/** The same, with the instants between which it was read. */
export async function readClockTimed(db: Queryable): Promise<ClockReading> {
  const fromMs = performance.now();
  const databaseMs = await readClock(db);
  return { databaseMs, fromMs, toMs: performance.now() };
}
