import { type Clock, systemClock } from "#kernel/values/clock.ts";
import { DAY_MS, MINUTE_MS } from "#kernel/values/duration.ts";
import { offsetsOf } from "#kernel/values/time-zone.ts";

/** Converts the times of the platform, which are its own wall clock written in the form of UTC. */
export type ServerClock = {
  /**
   * The instant of a wall-clock time. In the hour that daylight saving repeats two instants have the same time: the later one is
   * taken, unless it has not come yet.
   */
  readonly toUtcMs: (serverMs: number) => number;
  readonly toServerMs: (utcMs: number) => number;
  /** Minutes that the wall clock is ahead of UTC at an instant. */
  readonly offsetMinutes: (utcMs: number) => number;
  /** Wall-clock times between which the clock shows every instant of a period. */
  readonly serverPeriod: (fromMs: number, toMs: number) => { readonly fromMs: number; readonly toMs: number };
  /** Times in their order; all times of a repeated hour are equal, because the clock shows them twice. */
  readonly orderMs: (serverMs: number) => number;
};

/** Instants, both included, at which the wall clock has this offset. The next spell begins where this one ends. */
type Spell = { readonly minutes: number; readonly fromMs: number; readonly toMs: number };
/** All spells within two days of an instant, in order and without gaps. The first and the last may be shown longer than they are. */
type SpellsAround = (utcMs: number) => readonly Spell[];

/**
 * How far a read of deals extends beyond an instant: differences of clocks, time zones and daylight saving changes may hide a
 * deal from a narrower window.
 */
export const CLOCK_WINDOW_MS = DAY_MS;
/** A larger difference from every offset means that the server's clock or the local one is wrong. */
export const MAX_CLOCK_DIFFERENCE_MS = 5 * MINUTE_MS;
/** How far from an instant its spells are known. */
const AROUND_DAYS = 2;
/** More days than one read shows; then the memory begins anew. */
const MAX_DAYS = 1_000;

/**
 * A clock of an IANA time zone: right at any date but for the repeated hour. Many brokers end their day at five in the afternoon of New
 * York, for which there is no zone: `America/New_York+07:00` is that clock. Throws a RangeError for an unknown name.
 */
export function zoneClock(name: string, now: Clock = systemClock): ServerClock {
  return spellClock(spellsOf(offsetsOf(name)), now);
}

function spellClock(around: SpellsAround, now: Clock): ServerClock {
  const offsetMinutes = (utcMs: number) => spellAt(around(utcMs), utcMs).minutes;
  return {
    toUtcMs: (serverMs) => toInstant(serverMs, around(serverMs), now().getTime() + MAX_CLOCK_DIFFERENCE_MS),
    toServerMs: (utcMs) => utcMs + offsetMinutes(utcMs) * MINUTE_MS,
    offsetMinutes,
    serverPeriod(fromMs, toMs) {
      const isWithin = (spell: Spell) => spell.fromMs <= toMs && spell.toMs >= fromMs;
      const begins = around(fromMs)
        .filter(isWithin)
        .map((spell) => Math.max(fromMs, spell.fromMs) + offsetMs(spell));
      const ends = around(toMs)
        .filter(isWithin)
        .map((spell) => Math.min(toMs, spell.toMs) + offsetMs(spell));
      return { fromMs: Math.min(...begins), toMs: Math.max(...ends) };
    },
    orderMs(serverMs) {
      const fitting = fittingSpells(serverMs, around(serverMs));
      return fitting.length < 2 ? serverMs : Math.max(...fitting.map((spell) => spell.fromMs + offsetMs(spell)));
    },
  };
}

function toInstant(serverMs: number, spells: readonly Spell[], latestMs: number): number {
  const instants = fittingSpells(serverMs, spells).map((spell) => serverMs - offsetMs(spell));
  const past = instants.filter((utcMs) => utcMs <= latestMs);
  if (past.length > 0) return Math.max(...past);
  if (instants.length > 0) return Math.min(...instants);
  // The clock never shows the hour that is skipped in spring: such a time was set by hand, and counts as the change.
  return Math.max(...spells.filter((spell) => serverMs - offsetMs(spell) > spell.toMs).map(({ toMs }) => toMs));
}

function fittingSpells(serverMs: number, spells: readonly Spell[]): readonly Spell[] {
  return spells.filter((spell) => {
    const utcMs = serverMs - offsetMs(spell);
    return utcMs >= spell.fromMs && utcMs <= spell.toMs;
  });
}

/** At the change, the later one. */
function spellAt(spells: readonly Spell[], utcMs: number): Spell {
  const spell = spells.findLast(({ fromMs }) => fromMs <= utcMs);
  if (spell === undefined) throw new Error("an instant has no offset");
  return spell;
}

function offsetMs({ minutes }: Spell): number {
  return minutes * MINUTE_MS;
}

/** In which minute an offset changes is searched once for each day. */
function spellsOf(offsetAt: (utcMs: number) => number): SpellsAround {
  const known = new Map<number, readonly Spell[]>();
  return (utcMs) => {
    const day = Math.floor(utcMs / DAY_MS);
    const before = known.get(day);
    if (before !== undefined) return before;
    if (known.size >= MAX_DAYS) known.clear();
    const spells = findSpells(offsetAt, day);
    known.set(day, spells);
    return spells;
  };
}

function findSpells(offsetAt: (utcMs: number) => number, day: number): readonly Spell[] {
  const spells: Spell[] = [];
  let spell = { minutes: offsetAt((day - AROUND_DAYS) * DAY_MS), fromMs: Number.NEGATIVE_INFINITY };
  for (let each = day - AROUND_DAYS; each < day + 1 + AROUND_DAYS; each += 1) {
    const endMs = (each + 1) * DAY_MS;
    const minutes = offsetAt(endMs);
    if (minutes === spell.minutes) continue;
    const changeMs = findChange(offsetAt, each * DAY_MS, endMs);
    spells.push({ ...spell, toMs: changeMs });
    spell = { minutes, fromMs: changeMs };
  }
  return [...spells, { ...spell, toMs: Number.POSITIVE_INFINITY }];
}

/** The first minute of the new offset. */
function findChange(offsetAt: (utcMs: number) => number, beforeMs: number, afterMs: number): number {
  const minutes = offsetAt(beforeMs);
  let [before, after] = [beforeMs / MINUTE_MS, afterMs / MINUTE_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle * MINUTE_MS) === minutes) before = middle;
    else after = middle;
  }
  return after * MINUTE_MS;
}
