import { expect, test } from "vitest";
import { aVersion } from "../testing/a-version.ts";
import { isEnabledAt } from "../testing/timeline-at.ts";
import { termsAt } from "./version.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

test("the newest entry that has begun is in force, whatever began before it", () => {
  const entries = [aVersion(day(1)), aVersion(day(20), { ratePpm: 100_000 }), aVersion(day(10), { ratePpm: 150_000 })];

  expect(termsAt(entries, day(9)).ratePpm).toBe(300_000);
  expect(termsAt(entries, day(25))).toEqual({ ratePpm: 150_000, enabled: true, effectiveSince: day(10) });
});

test("rate and switch have their own starts", () => {
  const entries = [aVersion(day(1)), aVersion(day(2), { ratePpm: 0, enabled: false, enabledFrom: day(9) })];

  expect(termsAt(entries, day(3))).toEqual({ ratePpm: 0, enabled: true, effectiveSince: day(2) });
  expect(isEnabledAt(entries, day(9))).toBe(false);
});
