import type { Clock } from "#kernel/clock.ts";
import { MINUTE_MS } from "#kernel/duration.ts";
import { type ServerClock, type Spell, spellClock } from "./server-clock.ts";

/** An offset of the server's clock from UTC, and the first and the last instant at which it was measured. */
export type MeasuredOffset = { readonly minutes: number; readonly firstMs: number; readonly lastMs: number };

/** Where measured offsets are kept, so that deals from before a change are still dated right after a restart. */
export type OffsetMemory = {
  readonly load: () => Promise<readonly MeasuredOffset[]>;
  readonly save: (offset: MeasuredOffset) => Promise<void>;
};

/** Keeps them as long as this process runs. */
export function createOffsetMemory(): OffsetMemory {
  return { load: () => Promise.resolve([]), save: () => Promise.resolve() };
}

/** All current time zones differ from UTC by a multiple of this. */
const OFFSET_STEP_MINUTES = 15;

/** The offset of a clock that was just read, in minutes, rounded because of latency and clock differences. */
export function measuredOffset(serverMs: number, utcMs: number): number {
  return Math.round((serverMs - utcMs) / MINUTE_MS / OFFSET_STEP_MINUTES) * OFFSET_STEP_MINUTES;
}

/** The offsets with one more measurement. One from before the last change is late, from another process, and changes nothing. */
export function withMeasurement(
  offsets: readonly MeasuredOffset[],
  minutes: number,
  atMs: number,
): readonly MeasuredOffset[] {
  const last = offsets.at(-1);
  if (last === undefined) return [{ minutes, firstMs: atMs, lastMs: atMs }];
  if (atMs < last.firstMs) return offsets;
  if (last.minutes !== minutes) return [...offsets, { minutes, firstMs: atMs, lastMs: atMs }];
  return [...offsets.slice(0, -1), { ...last, lastMs: Math.max(last.lastMs, atMs) }];
}

/** In order; those that several processes have measured of one spell are one. */
export function inSequence(offsets: readonly MeasuredOffset[]): readonly MeasuredOffset[] {
  const merged: MeasuredOffset[] = [];
  for (const each of offsets.toSorted((a, b) => a.firstMs - b.firstMs)) {
    const last = merged.at(-1);
    if (last?.minutes !== each.minutes) merged.push(each);
    else merged.splice(-1, 1, { ...last, lastMs: Math.max(last.lastMs, each.lastMs) });
  }
  return merged;
}

/**
 * A clock whose offset was measured from time to time. The clock was stepped at some instant after the last measurement of one offset and before the
 * first of the next: between them it may have had either.
 */
export function measuredClock(offsets: readonly MeasuredOffset[], now: Clock): ServerClock {
  const spells = offsets.map(({ minutes, firstMs, lastMs }, index): Spell => {
    const [before, next] = [offsets[index - 1], offsets[index + 1]];
    return {
      minutes,
      fromMs: before === undefined ? Number.NEGATIVE_INFINITY : Math.min(before.lastMs, firstMs),
      toMs: next === undefined ? Number.POSITIVE_INFINITY : Math.max(next.firstMs, lastMs),
    };
  });
  return spellClock(() => spells, now);
}
