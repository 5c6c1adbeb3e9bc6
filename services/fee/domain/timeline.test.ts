import { expect, test } from "vitest";
import { type Change, type FeeChange, versionOfAssignment, versionOfChange } from "./change-timeline.ts";
import { isEnabledAt, presentOf, scheduledAfter, shownAt, type Version } from "./timeline.ts";
import { rateAt, versionsAfter } from "../testing/a-version.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const UNCHANGED: FeeChange = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined };

/** Commands on one Investor, each at its own day. */
class Timeline {
  versions: readonly Version[] = [];

  assign(at: Date, ratePpm: number, enabled = true): this {
    return this.#add(versionOfAssignment(this.versions, { ratePpm, enabled, effectiveSince: at }), at);
  }

  change(at: Date, change: Partial<FeeChange>): this {
    return this.#add(versionOfChange(this.versions, { ...UNCHANGED, ...change }, at), at);
  }

  cancel(at: Date): this {
    const cancelled = scheduledAfter(this.versions, at);
    this.versions = this.versions.filter((version) => version !== cancelled);
    return this;
  }

  /** The rates of profit on some days. */
  rates(...days: readonly number[]): number[] {
    return days.map((number) => rateAt(this.versions, day(number)));
  }

  #add(change: Change, madeAt: Date): this {
    this.versions = versionsAfter(this.versions, change, madeAt);
    return this;
  }
}

const assigned = () => new Timeline().assign(day(1), 300_000);

test("a change with the start that a query shows is one without a date", () => {
  const timeline = assigned().change(day(5), { ratePpm: 100_000 });
  timeline.change(day(9), { ratePpm: 500_000, effectiveSince: day(5) });

  expect(timeline.rates(4, 5, 8, 9)).toEqual([300_000, 100_000, 100_000, 500_000]);
  expect(shownAt(timeline.versions, day(9))).toMatchObject({ ratePpm: 500_000, effectiveSince: day(9) });
});

test("a change without a date leaves a scheduled version as it is, the switch too", () => {
  const timeline = assigned().change(day(2), { ratePpm: 900_000, effectiveSince: day(20) });
  timeline.change(day(5), { ratePpm: 200_000 }).change(day(6), { enabled: false });

  const shown = { ratePpm: 200_000, enabled: false, effectiveSince: day(6) };
  expect(shownAt(timeline.versions, day(6))).toMatchObject(shown);
  const scheduled = { id: 2n, ratePpm: 900_000, enabled: true, effectiveSince: day(20) };
  expect(scheduledAfter(timeline.versions, day(6))).toMatchObject(scheduled);
  expect(timeline.rates(4, 5, 6, 19, 20)).toEqual([300_000, 200_000, 0, 0, 900_000]);
});

test("an earlier date than now re-rates the profit since then, and the scheduled version stays", () => {
  const timeline = assigned().change(day(3), { ratePpm: 400_000 });
  timeline.change(day(4), { ratePpm: 900_000, effectiveSince: day(20) });
  timeline.change(day(9), { ratePpm: 100_000, effectiveSince: day(2) });

  expect(timeline.rates(1, 2, 3, 9, 19, 20)).toEqual([300_000, 100_000, 100_000, 100_000, 100_000, 900_000]);
  expect(shownAt(timeline.versions, day(9))).toMatchObject({ id: 4n, effectiveSince: day(2) });
});

test("a date before the subscription is executed as it was sent, and needs a rate", () => {
  const timeline = assigned().change(day(9), { ratePpm: 100_000, effectiveSince: new Date("2025-06-01") });

  expect(timeline.rates(1, 9)).toEqual([100_000, 100_000]);
  expect(rateAt(timeline.versions, new Date("2025-07-01"))).toBe(100_000);
  expect(() => assigned().change(day(9), { effectiveSince: new Date("2025-06-01") })).toThrow(
    expect.objectContaining({ code: "validation_failed", errors: [expect.objectContaining({ field: "rate" })] }),
  );
});

test("the switch is never retroactive: it is in force from now on", () => {
  const timeline = assigned().change(day(9), { enabled: false, ratePpm: 100_000, effectiveSince: day(2) });

  expect(timeline.rates(2, 8, 9)).toEqual([100_000, 100_000, 0]);
});

test("an earlier date without the switch does not enable what was disabled since", () => {
  const timeline = assigned().change(day(5), { enabled: false });
  timeline.change(day(9), { ratePpm: 100_000, effectiveSince: day(2) });

  expect(timeline.rates(2, 4, 5, 9)).toEqual([100_000, 100_000, 0, 0]);
  expect(shownAt(timeline.versions, day(9))).toMatchObject({ enabled: false, effectiveSince: day(2) });
});

test("what a change omits is as in the version in force at its start", () => {
  const timeline = assigned().change(day(3), { ratePpm: 400_000 });
  timeline.change(day(5), { ratePpm: 900_000, enabled: false, effectiveSince: day(20) });
  timeline.change(day(7), { effectiveSince: day(2) });
  expect(timeline.rates(2, 3, 19, 20)).toEqual([300_000, 300_000, 300_000, 0]);

  timeline.change(day(8), { enabled: true, effectiveSince: day(20) });
  expect(timeline.rates(19, 20)).toEqual([300_000, 900_000]);
});

test("the second version for the same instant replaces the first one", () => {
  const timeline = assigned().change(day(2), { ratePpm: 900_000, effectiveSince: day(20) });
  timeline.change(day(3), { ratePpm: 800_000, effectiveSince: day(20) });

  expect(timeline.rates(19, 20)).toEqual([300_000, 800_000]);
  expect(timeline.cancel(day(4)).rates(19, 20)).toEqual([300_000, 300_000]);
});

test("while a version is scheduled, one with another start that is to come is refused, and names it", () => {
  for (const start of [10, 30]) {
    const timeline = assigned().change(day(2), { effectiveSince: day(20) });
    const message = expect.stringContaining("Fee version 2 is scheduled for this Investor already, from 2026-01-20");
    expect(() => timeline.change(day(3), { ratePpm: 1, effectiveSince: day(start) })).toThrow(
      expect.objectContaining({ code: "too_many_scheduled_versions", message }),
    );
    timeline.cancel(day(4)).change(day(5), { ratePpm: 1, effectiveSince: day(start) });
    expect(timeline.rates(9, 30)).toEqual([300_000, 1]);
  }
});

test("a version that has begun makes room for the next one", () => {
  const timeline = assigned().change(day(2), { ratePpm: 2, effectiveSince: day(20) });
  timeline.change(day(20), { ratePpm: 3, effectiveSince: day(30) });

  expect(timeline.rates(19, 20, 30)).toEqual([300_000, 2, 3]);
});

test("a configuration whose only version is cancelled is none, and needs a rate again", () => {
  const timeline = new Timeline().change(day(1), { ratePpm: 1, effectiveSince: day(20) });
  expect(shownAt(timeline.versions, day(2))).toMatchObject({ effectiveSince: day(20) });
  timeline.cancel(day(3));

  expect(shownAt(timeline.versions, day(3))).toBeUndefined();
  expect([rateAt(timeline.versions, day(21)), isEnabledAt(timeline.versions, day(21))]).toEqual([0, false]);
  expect(() => timeline.change(day(4), { enabled: true })).toThrow(
    expect.objectContaining({ code: "validation_failed" }),
  );
  timeline.change(day(5), { ratePpm: 7 });
  expect(timeline.rates(5, 21)).toEqual([7, 7]);
});

test("a change without a date before the first scheduled version needs a rate, and the scheduled one stays", () => {
  const timeline = new Timeline().change(day(1), { ratePpm: 10, effectiveSince: day(20) });
  expect(() => timeline.change(day(2), { enabled: true })).toThrow(
    expect.objectContaining({ code: "validation_failed" }),
  );
  timeline.change(day(3), { ratePpm: 5 });

  expect(timeline.rates(2, 3, 20)).toEqual([0, 5, 10]);
});

test("an assignment begins a new timeline: nothing that was scheduled for the old one begins", () => {
  const timeline = assigned()
    .change(day(2), { ratePpm: 1, enabled: false, effectiveSince: day(20) })
    .assign(day(9), 200_000);

  expect(timeline.rates(8, 9, 20)).toEqual([300_000, 200_000, 200_000]);
});

test("a new configuration is enabled, with a past date from now on", () => {
  const { version } = versionOfChange([], { ...UNCHANGED, ratePpm: 1, effectiveSince: day(1) }, day(9));

  expect(version).toEqual({ ratePpm: 1, effectiveSince: day(1), enabled: true, enabledFrom: day(9) });
});

test("a replica whose clock is behind continues where the last command was made", () => {
  const configuration = { updatedAt: day(5) };

  expect([presentOf(configuration, day(4)), presentOf(configuration, day(6)), presentOf(undefined, day(4))]).toEqual([
    day(5),
    day(6),
    day(4),
  ]);
});
