import { expect, test } from "vitest";
import { type ClockReading, WatchedClock } from "./watched-clock.ts";

/** Read at a monotonic instant, with an answer that took `tookMs`. */
function reading(databaseMs: number, atMs: number, tookMs = 2): ClockReading {
  return { databaseMs, fromMs: atMs - tookMs / 2, toMs: atMs + tookMs / 2 };
}

test("a clock that runs as fast as the monotonic clock is steady, however slow an answer was", () => {
  const clock = new WatchedClock(reading(10_000, 0));
  expect(clock.note(reading(11_000, 1_000))).toBeUndefined();
  expect(clock.note(reading(16_000, 5_000, 4_000))).toBeUndefined();
  // Drift of a tenth of a second in an hour.
  expect(clock.note(reading(16_000 + 3_600_100, 3_605_000))).toBeUndefined();
  expect(clock.steadySinceMs).toBe(10_000);
});

test.each([[-60_000], [-1_100], [1_100], [600_000]])(
  "a step of %d ms is noted, and only time after it counts",
  (stepMs) => {
    const clock = new WatchedClock(reading(10_000, 0));
    const stepped = 11_000 + stepMs;
    expect(clock.note(reading(stepped, 1_000, 0))).toBe(stepMs);
    expect(clock.steadySinceMs).toBe(stepped);
    expect(clock.note(reading(stepped + 1_000, 2_000))).toBeUndefined();
    expect(clock.steadySinceMs).toBe(stepped);
  },
);

test("the time of the database is known without asking it", () => {
  const nowMs = performance.now();
  const clock = new WatchedClock(reading(1_000_000, nowMs));
  expect(clock.nowMs() - 1_000_000).toBeGreaterThanOrEqual(0);
  expect(clock.nowMs() - 1_000_000).toBeLessThan(60_000);
});
