import { expect, test } from "vitest";
import { DAY_MS, HOUR_MS } from "#kernel/values/duration.ts";
import { isOfOpenSession, isRecent, type ServerTime, type WeekOfSessions } from "./price-age.ts";

/** The server's clock is three hours ahead of UTC. */
function at(text: string): ServerTime {
  const serverMs = Date.parse(`${text}:00Z`);
  return { at: new Date(serverMs - 3 * HOUR_MS), serverMs };
}

/** Monday to Friday, around the clock; a stock from 16:30 to 23:00. */
const FOREX: WeekOfSessions = [[], ...Array.from({ length: 5 }, () => [{ open: 0, close: 1_440 }]), []];
const STOCK: WeekOfSessions = [[], ...Array.from({ length: 5 }, () => [{ open: 990, close: 1_380 }]), []];

test("a price is recent for an hour, to the millisecond", () => {
  const tick = at("2026-11-27T23:59");
  const later = (ms: number): ServerTime => ({ at: new Date(tick.at.getTime() + ms), serverMs: tick.serverMs + ms });
  expect([HOUR_MS, HOUR_MS + 1, 2 * DAY_MS].map((ms) => isRecent(tick, later(ms), HOUR_MS))).toEqual([
    true,
    false,
    false,
  ]);
});

test.for([
  ["Friday's price on Sunday", "2026-11-27T23:59", "2026-11-29T12:00", FOREX, false],
  [
    "Friday's price when Monday's session has begun and no price has come",
    "2026-11-27T23:59",
    "2026-11-30T00:05",
    FOREX,
    false,
  ],
  ["Monday's first price", "2026-11-30T00:06", "2026-11-30T00:06", FOREX, true],
  ["a symbol that has seldom a price, in its session", "2026-11-30T16:31", "2026-11-30T22:59", STOCK, true],
  ["the same when its session is over", "2026-11-30T16:31", "2026-11-30T23:00", STOCK, false],
  [
    "yesterday's price after a session without one, as on a holiday",
    "2026-11-30T16:31",
    "2026-12-01T18:00",
    STOCK,
    false,
  ],
  ["a symbol whose sessions the platform does not show", "2026-11-30T10:00", "2026-11-30T12:00", [], false],
  ["a price from the future of a clock that was set", "2026-11-30T23:00", "2026-11-30T12:00", FOREX, false],
] as const)("%s", ([, tick, now, week, isMark]) => {
  expect(isOfOpenSession(at(tick), at(now), week)).toBe(isMark);
});

test("the first minute of a session belongs to it, the last one does not", () => {
  const times = ["16:29", "16:30", "22:59", "23:00"].map((time) => at(`2026-11-30T${time}`));
  expect(times.map((now) => isOfOpenSession(now, now, STOCK))).toEqual([false, true, true, false]);
});
