import fc from "fast-check";
import { expect, test } from "vitest";
import { lastCutOff, nextCutOff, periodStart } from "./weeks.ts";

const WEEK_MS = 7 * 86_400_000;
const weekly = { anchor: new Date("2025-01-04T00:00:00Z"), periodMs: WEEK_MS };

test("the next cut-off is after the first instant and not after the second, the oldest of several", () => {
  const [first, second] = [new Date("2026-03-07T00:00:00Z"), new Date("2026-03-14T00:00:00Z")];
  expect(nextCutOff(weekly, first, second)).toEqual(second);
  expect(nextCutOff(weekly, new Date(first.getTime() - 1), second)).toEqual(first);
  expect(nextCutOff(weekly, first, new Date(second.getTime() - 1))).toBeUndefined();
  expect(nextCutOff(weekly, second, first)).toBeUndefined();
  expect(nextCutOff(weekly, undefined, second)).toBeUndefined();
  expect(nextCutOff(weekly, first, undefined)).toBeUndefined();
});

test("weeks may be as short as a second", () => {
  const short = { anchor: new Date(250), periodMs: 1_000 };
  expect(lastCutOff(short, new Date(5_249))).toEqual(new Date(4_250));
  expect(nextCutOff(short, new Date(4_250), new Date(7_000))).toEqual(new Date(5_250));
});

test("every instant lies in exactly one week, and weeks follow each other without a gap", () => {
  const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(instant, instant, fc.integer({ min: 1_000, max: 2 * WEEK_MS }), (anchor, at, periodMs) => {
      const week = { anchor: new Date(anchor), periodMs };
      const start = lastCutOff(week, new Date(at));
      expect(start.getTime() <= at && at < start.getTime() + periodMs).toBe(true);
      const end = new Date(start.getTime() + periodMs);
      expect(nextCutOff(week, start, end)).toEqual(end);
      expect(periodStart(week, end)).toEqual(start);
    }),
  );
});
