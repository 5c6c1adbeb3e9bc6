/** A time of the database, in milliseconds since 1970, and the monotonic instants of this process before and after it was read. */
export type ClockReading = { readonly databaseMs: number; readonly fromMs: number; readonly toMs: number };

/** Two readings differ by less than this when no clock was stepped: drift within hours, and the rounding of both. */
const MAX_DRIFT_MS = 1_000;

/**
 * The clock of the database as one process has watched it against its own monotonic clock. A clock that is set while a quiet period
 * runs would end it early; so only time since `steadySinceMs` counts.
 */
export class WatchedClock {
  #last: ClockReading;
  #steadySinceMs: number;

  constructor(first: ClockReading) {
    this.#last = first;
    this.#steadySinceMs = first.databaseMs;
  }

  /** Since when this process has seen no step of the clock, by the clock itself. */
  get steadySinceMs(): number {
    return this.#steadySinceMs;
  }

  /** The time of the database now, without asking it; as exact as the last reading was quick. */
  nowMs(): number {
    const { databaseMs, fromMs, toMs } = this.#last;
    return databaseMs + performance.now() - (fromMs + toMs) / 2;
  }

  /** Notes a reading. Returns by how many milliseconds the clock was stepped since the last one, or undefined. */
  note(reading: ClockReading): number | undefined {
    const before = this.#last;
    this.#last = reading;
    // The time that has passed was at least and at most this.
    const passedMs = reading.databaseMs - before.databaseMs;
    const leastMs = reading.fromMs - before.toMs - MAX_DRIFT_MS;
    const mostMs = reading.toMs - before.fromMs + MAX_DRIFT_MS;
    if (passedMs >= leastMs && passedMs <= mostMs) return undefined;
    this.#steadySinceMs = reading.databaseMs;
    return Math.round(passedMs - (leastMs + mostMs) / 2);
  }
}
