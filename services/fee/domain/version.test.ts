import { expect, test } from "vitest";
import { firstVersion, nextVersion, termsAt, type FeeChange } from "./version.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const change = (parts: Partial<FeeChange>): FeeChange => ({
  ratePpm: undefined,
  enabled: undefined,
  effectiveSince: undefined,
  ...parts,
});
const first = firstVersion({ ...change({}), ratePpm: 300_000 }, day(1));

test("a new configuration is enabled and valid from now", () => {
  expect(first).toEqual({
    ratePpm: 300_000,
    rateFrom: day(1),
    enabled: true,
    enabledFrom: day(1),
    effectiveSince: day(1),
  });
});

test("a new configuration with a past date has its rate from that date, and is enabled only from now", () => {
  expect(firstVersion({ ...change({ effectiveSince: day(1) }), ratePpm: 1 }, day(9))).toMatchObject({
    rateFrom: day(1),
    enabledFrom: day(9),
    effectiveSince: day(1),
  });
});

test("a change without an instant is valid from now and keeps effective_since", () => {
  const next = nextVersion(first, change({ ratePpm: 200_000 }), day(5));

  expect(next).toEqual({
    ratePpm: 200_000,
    rateFrom: day(5),
    enabled: true,
    enabledFrom: undefined,
    effectiveSince: day(1),
  });
  expect(termsAt([first, next], day(4))).toEqual({ ratePpm: 300_000, enabled: true, effectiveSince: day(1) });
  expect(termsAt([first, next], day(5))).toEqual({ ratePpm: 200_000, enabled: true, effectiveSince: day(1) });
});

test("before the instant of a scheduled rate the current rate is valid", () => {
  const scheduled = nextVersion(first, change({ ratePpm: 100_000, effectiveSince: day(20) }), day(5));

  expect(termsAt([first, scheduled], day(19)).ratePpm).toBe(300_000);
  expect(termsAt([first, scheduled], day(20))).toEqual({ ratePpm: 100_000, enabled: true, effectiveSince: day(20) });
});

test("a change to a scheduled configuration keeps its start", () => {
  const scheduled = firstVersion({ ...change({ effectiveSince: day(20) }), ratePpm: 100_000 }, day(1));
  const changed = nextVersion(scheduled, change({ ratePpm: 50_000 }), day(5));

  expect(changed).toMatchObject({ rateFrom: day(20), effectiveSince: day(20) });
  expect(termsAt([scheduled, changed], day(6)).ratePpm).toBe(100_000);
  expect(termsAt([scheduled, changed], day(20)).ratePpm).toBe(50_000);
});

test("the newest change is valid from its instant and replaces every version that starts later", () => {
  const scheduled = nextVersion(first, change({ ratePpm: 100_000, effectiveSince: day(20) }), day(5));
  const newest = nextVersion(scheduled, change({ ratePpm: 150_000, effectiveSince: day(10) }), day(6));

  expect(termsAt([first, scheduled, newest], day(9)).ratePpm).toBe(300_000);
  expect(termsAt([first, scheduled, newest], day(25)).ratePpm).toBe(150_000);
});

test("a rate may be valid from a past date, but enabled may not", () => {
  const backdated = nextVersion(first, change({ ratePpm: 0, enabled: false, effectiveSince: day(2) }), day(9));

  expect(backdated).toMatchObject({ rateFrom: day(2), enabledFrom: day(9) });
  expect(termsAt([first, backdated], day(3))).toEqual({ ratePpm: 0, enabled: true, effectiveSince: day(2) });
  expect(termsAt([first, backdated], day(9)).enabled).toBe(false);
});

test("a change of enabled alone does not change a scheduled rate", () => {
  const scheduled = nextVersion(first, change({ ratePpm: 100_000, effectiveSince: day(20) }), day(5));
  const off = nextVersion(scheduled, change({ enabled: false }), day(6));

  expect(termsAt([first, scheduled, off], day(7))).toEqual({
    ratePpm: 300_000,
    enabled: false,
    effectiveSince: day(1),
  });
  expect(termsAt([first, scheduled, off], day(21))).toEqual({
    ratePpm: 100_000,
    enabled: false,
    effectiveSince: day(20),
  });
});

test("an instant without a rate changes the start of the current rate", () => {
  const moved = nextVersion(first, change({ effectiveSince: day(3) }), day(5));

  expect(moved).toMatchObject({ ratePpm: 300_000, rateFrom: day(3), enabledFrom: undefined, effectiveSince: day(3) });
});

test("before any version is valid, the terms are those of the first scheduled one", () => {
  const scheduled = firstVersion({ ...change({ effectiveSince: day(20) }), ratePpm: 100_000 }, day(1));

  expect(termsAt([scheduled], day(2))).toEqual({ ratePpm: 100_000, enabled: true, effectiveSince: day(20) });
});
