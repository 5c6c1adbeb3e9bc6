import { type Clock, systemClock } from "#kernel/clock.ts";
import { DAY_MS, MINUTE_MS } from "#kernel/duration.ts";
import { offsetsOf } from "#kernel/time-zone.ts";
import { type ServerClock, type Spell, spellClock, type SpellsAround } from "./server-clock.ts";

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
