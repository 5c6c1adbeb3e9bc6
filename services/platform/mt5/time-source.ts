import type { Clock } from "#kernel/clock.ts";
import { MINUTE_MS, SECOND_MS } from "#kernel/duration.ts";
import type { Log } from "#kernel/log.ts";
import { Mt5Error } from "./errors.ts";
import {
  inSequence,
  measuredClock,
  type MeasuredOffset,
  measuredOffset,
  type OffsetMemory,
  withMeasurement,
} from "./measured-offsets.ts";
import { fixedClock, MAX_CLOCK_DIFFERENCE_MS, type ServerClock } from "./server-clock.ts";
import { zoneClock } from "./zone-clock.ts";

/** A clock that was compared with the local one. */
export type ComparedClock = ServerClock & {
  /** How far the server's clock was ahead of the local one, in ms; the server shows whole seconds, so it may be up to a second further. */
  readonly aheadMs: number;
};

/** The server's clock as it is known now. */
export type TimeSource = () => Promise<ServerClock>;
export type ComparedTime = () => Promise<ComparedClock>;

/** Clocks change on a quarter of an hour; a server may be some seconds early or late with it. */
const CHANGES_EVERY_MS = 15 * MINUTE_MS;
const NEAR_CHANGE_MS = 10 * SECOND_MS;
/** How long a comparison holds: at an unexpected time a change is noticed before the next longer period is read again. */
const HOLDS_MS = MINUTE_MS;
const HOLDS_NEAR_CHANGE_MS = SECOND_MS;
/** No daylight-saving rule changes a clock by more. */
const MAX_CHANGE_MINUTES = 60;
/** How often a measured offset is kept while it is the same. */
const SAVE_EVERY_MS = 15 * MINUTE_MS;

const CLOCKS_DIFFER = "the platform's clock and the local one differ by more than five minutes: correct both clocks";

function zoneDiffers(zone: string, differenceMs: number): string {
  const minutes = Math.round(differenceMs / MINUTE_MS);
  return `MT5_TIME_ZONE=${zone} differs from the platform's clock by ${minutes} minutes: correct it, or remove it`;
}

function tooLong(minutes: number): string {
  return `the platform's clock, or the local one, was set by ${minutes} minutes: correct both clocks, or set MT5_TIME_ZONE`;
}

export type Measuring = {
  /** Reads the server's wall clock. */
  readonly readServerMs: () => Promise<number>;
  readonly now: Clock;
  readonly memory: OffsetMemory;
  readonly log: Log;
};

/**
 * Without a configured zone the offset is measured: each minute, and each second around the quarters of an hour, when clocks change. Deals from
 * before a change are dated with the offset of their time. Of a change before the first measurement nothing is known.
 */
export function measuredTime({ readServerMs, now, memory, log }: Measuring): ComparedTime {
  let offsets: readonly MeasuredOffset[] | undefined;
  const save = keeping(memory, log);
  return shared(now, { holdsUntil: nextMeasurement }, async () => {
    const known = (offsets ??= inSequence(await memory.load()));
    const { serverMs, utcMs } = await readBoth(readServerMs, now);
    const minutes = measuredOffset(serverMs, utcMs);
    const aheadMs = serverMs - fixedClock(minutes).toServerMs(utcMs);
    requireSmall(Math.abs(aheadMs), () => CLOCKS_DIFFER);
    const changeMinutes = minutes - (known.at(-1)?.minutes ?? minutes);
    if (Math.abs(changeMinutes) > MAX_CHANGE_MINUTES) throw new Mt5Error("clock_differs", tooLong(changeMinutes));
    const noted = withMeasurement(known, minutes, utcMs);
    if (changeMinutes !== 0) {
      log.warn("clock of the trading platform was changed, its new offset is used", {
        duration_ms: changeMinutes * MINUTE_MS,
      });
    }
    await save(noted);
    offsets = noted;
    return { ...measuredClock(noted, now), aheadMs };
  });
}

/** Keeps the last two of the offsets at a change, and the last one from time to time. What cannot be kept now is kept later. */
function keeping({ save }: OffsetMemory, log: Log): (offsets: readonly MeasuredOffset[]) => Promise<void> {
  let kept: MeasuredOffset | undefined;
  return async (offsets) => {
    const last = offsets.at(-1);
    if (last === undefined) return;
    const isKept = kept?.firstMs === last.firstMs && last.lastMs - kept.lastMs < SAVE_EVERY_MS;
    if (isKept) return;
    try {
      for (const each of offsets.slice(kept?.firstMs === last.firstMs ? -1 : -2)) await save(each);
      kept = last;
    } catch (error) {
      log.warn("offset of the trading platform's clock not kept, retry scheduled", { error });
    }
  };
}

/**
 * A configured zone is compared with the server's clock, each minute: in another zone deals would count in another week, or not
 * be found. Only the first comparison is waited for: the zone itself is right at any date. Throws a RangeError for an unknown zone.
 */
export function zoneTime(zone: string, readServerMs: () => Promise<number>, now: Clock): ComparedTime {
  const clock = zoneClock(zone, now);
  const compare = shared(now, { holdsUntil: (utcMs) => utcMs + HOLDS_MS }, async () => {
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

/** When the platform's clock, which shows this instant, has to be measured again. */
function nextMeasurement(platformMs: number): number {
  const sinceChangeMs = platformMs % CHANGES_EVERY_MS;
  const isNear = sinceChangeMs < NEAR_CHANGE_MS || sinceChangeMs >= CHANGES_EVERY_MS - NEAR_CHANGE_MS;
  if (isNear) return platformMs + HOLDS_NEAR_CHANGE_MS;
  return Math.min(platformMs + HOLDS_MS, platformMs - sinceChangeMs + CHANGES_EVERY_MS - NEAR_CHANGE_MS);
}

type Holding = {
  /** By the platform's clock, as an instant. */
  readonly holdsUntil: (platformMs: number) => number;
};

/** All callers share one measurement until it no longer holds; a failure is measured again by the next caller. */
function shared(now: Clock, { holdsUntil }: Holding, measure: () => Promise<ComparedClock>): ComparedTime {
  let known: { readonly clock: Promise<ComparedClock>; startMs: number; untilMs: number } | undefined;
  return () => {
    const nowMs = now().getTime();
    if (known !== undefined && nowMs >= known.startMs && nowMs < known.untilMs) return known.clock;
    const measuring = { clock: measure(), startMs: nowMs, untilMs: Number.POSITIVE_INFINITY };
    known = measuring;
    measuring.clock.then(
      ({ aheadMs }) => (measuring.untilMs = holdsUntil(nowMs + aheadMs) - aheadMs),
      () => {
        if (known === measuring) known = undefined;
      },
    );
    return measuring.clock;
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
