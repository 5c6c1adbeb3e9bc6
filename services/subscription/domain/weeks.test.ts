import fc from "fast-check";
import { expect, test } from "vitest";
import { cutOffsDue, lastCutOff, periodStart } from "./weeks.ts";

const WEEK_MS = 7 * 86_400_000;
const weekly = { anchor: new Date("2025-01-04T00:00:00Z"), periodMs: WEEK_MS };

test("due cut-offs are after the first instant and not after the second", () => {
  const [first, second] = [new Date("2026-03-07T00:00:00Z"), new Date("2026-03-14T00:00:00Z")];
  expect(cutOffsDue(weekly, first, second, 10)).toEqual([second]);
  expect(cutOffsDue(weekly, new Date(first.getTime() - 1), second, 10)).toEqual([first, second]);
  expect(cutOffsDue(weekly, first, new Date(second.getTime() - 1), 10)).toEqual([]);
  expect(cutOffsDue(weekly, second, first, 10)).toEqual([]);
});

test("missed weeks come oldest first, up to the limit", () => {
  const due = cutOffsDue(weekly, new Date("2026-01-01T00:00:00Z"), new Date("2026-12-31T00:00:00Z"), 2);
  expect(due).toEqual([new Date("2026-01-03T00:00:00Z"), new Date("2026-01-10T00:00:00Z")]);
  expect(cutOffsDue(weekly, new Date(0), new Date(), 0)).toEqual([]);
});

test("every instant lies in exactly one week, and weeks follow each other without a gap", () => {
  const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
  fc.assert(
    fc.property(instant, instant, fc.integer({ min: 1_000, max: 2 * WEEK_MS }), (anchor, at, periodMs) => {
      const week = { anchor: new Date(anchor), periodMs };
      const start = lastCutOff(week, new Date(at));
      expect(start.getTime() <= at && at < start.getTime() + periodMs).toBe(true);
      const end = new Date(start.getTime() + periodMs);
      expect(cutOffsDue(week, start, end, 5)).toEqual([end]);
      expect(periodStart(week, end)).toEqual(start);
    }),
  );
});
