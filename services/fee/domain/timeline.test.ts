import { expect, test } from "vitest";
import {
  entriesOfCancellation,
  entriesOfChange,
  entryOfAssignment,
  type FeeChange,
  MAX_SCHEDULED,
  type NewEntries,
} from "./change-timeline.ts";
import { inForceAt, presentOf, scheduledAfter, shownAt, stateOf, type TimelineEntry } from "./timeline.ts";
import { versionOn, versionsOn } from "../testing/a-version.ts";
import { isEnabledAt, rateAt } from "./version.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const UNCHANGED: FeeChange = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined };

/** Commands on one Investor, each at its own day. */
class Timeline {
  entries: TimelineEntry[] = [];

  assign(at: Date, ratePpm: number, enabled = true): this {
    return this.add([entryOfAssignment({ ratePpm, enabled, effectiveSince: at })], at);
  }

  change(at: Date, change: Partial<FeeChange>): this {
    return this.add(entriesOfChange(this.entries, { ...UNCHANGED, ...change }, at), at);
  }

  cancel(at: Date, id: bigint): this {
    return this.add(entriesOfCancellation(this.entries, versionOn(this.entries, id), at), at);
  }

  add(added: NewEntries, madeAt: Date): this {
    for (const entry of added) this.entries.push({ ...entry, id: BigInt(this.entries.length) + 1n, madeAt });
    return this;
  }

  /** The rates of profit on some days. */
  rates(...days: readonly number[]): number[] {
    return days.map((number) => rateAt(this.entries, day(number)));
  }

  /** Ids and states of all versions. */
  states(at: Date): Record<string, string> {
    const versions = versionsOn(this.entries);
    return Object.fromEntries(versions.map((version) => [String(version.id), stateOf(this.entries, version, at)]));
  }
}

const assigned = () => new Timeline().assign(day(1), 300_000);

test("a change without a date is in force from now on, and shows that instant", () => {
  const { entries } = assigned().change(day(5), { ratePpm: 100_000 });

  expect(shownAt(entries, day(5))).toEqual({ id: 2n, ratePpm: 100_000, enabled: true, since: day(5) });
  expect([rateAt(entries, day(4)), rateAt(entries, day(5))]).toEqual([300_000, 100_000]);
});

test("a change with the start that a query shows is one without a date", () => {
  const timeline = assigned().change(day(5), { ratePpm: 100_000 });
  timeline.change(day(9), { ratePpm: 500_000, effectiveSince: day(5) });

  expect(timeline.rates(4, 5, 8, 9)).toEqual([300_000, 100_000, 100_000, 500_000]);
  expect(shownAt(timeline.entries, day(9))).toMatchObject({ ratePpm: 500_000, since: day(9) });
});

test("a change without a date leaves a scheduled version as it is, the switch too", () => {
  const timeline = assigned().change(day(2), { ratePpm: 900_000, effectiveSince: day(20) });
  timeline.change(day(5), { ratePpm: 200_000 }).change(day(6), { enabled: false });

  expect(shownAt(timeline.entries, day(6))).toEqual({ id: 5n, ratePpm: 200_000, enabled: false, since: day(6) });
  expect(scheduledAfter(timeline.entries, day(6))).toEqual([
    { id: 2n, ratePpm: 900_000, enabled: true, since: day(20) },
  ]);
  expect(timeline.rates(4, 5, 6, 19, 20)).toEqual([300_000, 200_000, 0, 0, 900_000]);
  expect(timeline.states(day(6))).toEqual({ 1: "past", 2: "scheduled", 3: "past", 5: "in_force" });
  expect(timeline.states(day(20))).toMatchObject({ 2: "in_force", 5: "past" });
});

test("an earlier date than now re-rates the profit since then, and the scheduled versions stay", () => {
  const timeline = assigned().change(day(3), { ratePpm: 400_000 });
  timeline.change(day(4), { ratePpm: 900_000, effectiveSince: day(20) });
  timeline.change(day(9), { ratePpm: 100_000, effectiveSince: day(2) });

  expect(timeline.rates(1, 2, 3, 9, 19, 20)).toEqual([300_000, 100_000, 100_000, 100_000, 100_000, 900_000]);
  expect(timeline.states(day(9))).toEqual({ 1: "past", 2: "replaced", 3: "scheduled", 4: "in_force" });
  expect(shownAt(timeline.entries, day(9))).toMatchObject({ id: 4n, since: day(2) });
});

test("a date before the subscription is executed as it was sent, and needs a rate", () => {
  const timeline = assigned().change(day(9), { ratePpm: 100_000, effectiveSince: new Date("2025-06-01") });

  expect(timeline.rates(1, 9)).toEqual([100_000, 100_000]);
  expect(rateAt(timeline.entries, new Date("2025-07-01"))).toBe(100_000);
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
  expect(shownAt(timeline.entries, day(9))).toMatchObject({ enabled: false, since: day(2) });
});

test("what a change omits is as in the version in force at its start", () => {
  const timeline = assigned().change(day(3), { ratePpm: 400_000 });
  timeline.change(day(5), { ratePpm: 900_000, enabled: false, effectiveSince: day(20) });
  timeline.change(day(6), { enabled: true, effectiveSince: day(25) });
  timeline.change(day(7), { effectiveSince: day(2) });

  expect(timeline.rates(2, 3, 19, 20, 25)).toEqual([300_000, 300_000, 300_000, 0, 900_000]);
});

test("the second version for the same instant replaces the first one", () => {
  const timeline = assigned().change(day(2), { ratePpm: 900_000, effectiveSince: day(20) });
  timeline.change(day(3), { ratePpm: 800_000, effectiveSince: day(20) });

  expect(timeline.states(day(3))).toEqual({ 1: "in_force", 2: "replaced", 3: "scheduled" });
  expect(timeline.rates(19, 20)).toEqual([300_000, 800_000]);
});

test("a version may be scheduled before others, and after them", () => {
  const timeline = assigned();
  for (const [rate, start] of [
    [20, 20],
    [10, 10],
    [30, 30],
    [15, 15],
  ] as const) {
    timeline.change(day(2), { ratePpm: rate, effectiveSince: day(start) });
  }

  expect(timeline.rates(9, 10, 15, 20, 30)).toEqual([300_000, 10, 15, 20, 30]);
  expect(scheduledAfter(timeline.entries, day(2)).map(({ ratePpm }) => ratePpm)).toEqual([10, 15, 20, 30]);
});

test("in the place of a cancelled version the one before it goes on, also when that one is cancelled or changed later", () => {
  const timeline = assigned();
  for (const start of [10, 20, 30]) timeline.change(day(2), { ratePpm: start, effectiveSince: day(start) });
  const [, second, third] = scheduledAfter(timeline.entries, day(2));
  timeline.cancel(day(3), second!.id);
  expect(timeline.rates(10, 20, 30)).toEqual([10, 10, 30]);
  expect(scheduledAfter(timeline.entries, day(3)).map(({ since }) => since)).toEqual([day(10), day(30)]);

  timeline.cancel(day(4), 2n);
  expect(timeline.rates(9, 10, 20, 30)).toEqual([300_000, 300_000, 300_000, 30]);
  timeline.change(day(5), { ratePpm: 5 });
  expect(timeline.rates(9, 10, 20, 30)).toEqual([5, 5, 5, 30]);
  expect(timeline.states(day(5))).toMatchObject({ [String(third!.id)]: "scheduled", 2: "cancelled" });
  expect(inForceAt(timeline.entries, day(25))).toMatchObject({ ratePpm: 5, since: day(5) });
});

test("only a scheduled version can be cancelled", () => {
  const timeline = assigned().change(day(2), { ratePpm: 2 });
  for (const ratePpm of [3, 4]) timeline.change(day(3), { ratePpm, effectiveSince: day(20) });
  timeline.cancel(day(4), 4n);
  const states = { 1: "past", 2: "in_force", 3: "replaced", 4: "cancelled" };

  expect(timeline.states(day(5))).toEqual(states);
  for (const [id, state] of Object.entries(states)) {
    expect(() => timeline.cancel(day(5), BigInt(id))).toThrow(
      expect.objectContaining({ code: "fee_version_not_scheduled", details: { state } }),
    );
  }
});

test("a version that has begun cannot be cancelled, not even at its first instant", () => {
  const timeline = assigned().change(day(2), { ratePpm: 1, effectiveSince: day(20) });

  expect(() => timeline.cancel(day(20), 2n)).toThrow(expect.objectContaining({ code: "fee_version_not_scheduled" }));
});

test("a configuration whose only version is cancelled is none, and needs a rate again", () => {
  const timeline = new Timeline().change(day(1), { ratePpm: 1, effectiveSince: day(20) });
  expect(shownAt(timeline.entries, day(2))).toMatchObject({ since: day(20) });
  timeline.cancel(day(3), 1n);

  expect(shownAt(timeline.entries, day(3))).toBeUndefined();
  expect([rateAt(timeline.entries, day(21)), isEnabledAt(timeline.entries, day(21))]).toEqual([0, false]);
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
    .change(day(2), { ratePpm: 1, effectiveSince: day(20) })
    .assign(day(9), 200_000);

  expect(timeline.rates(8, 9, 20)).toEqual([300_000, 200_000, 200_000]);
  expect(timeline.states(day(9))).toEqual({ 1: "past", 2: "replaced", 3: "in_force" });
});

test("a new configuration is enabled, with a past date from now on", () => {
  const change = { ratePpm: 1, effectiveSince: day(1) };
  expect(entriesOfChange([], { ...UNCHANGED, ...change }, day(9))).toMatchObject([
    { rateFrom: day(1), enabled: true, enabledFrom: day(9), effectiveSince: day(1) },
  ]);
});

test("the number of scheduled versions is limited, and an existing one can still be replaced", () => {
  const timeline = assigned();
  const start = (place: number): Date => new Date(day(2).getTime() + place);
  for (let place = 1; place <= MAX_SCHEDULED; place += 1) timeline.change(day(2), { effectiveSince: start(place) });

  const oneMore = { effectiveSince: start(MAX_SCHEDULED + 1) };
  expect(() => timeline.change(day(2), oneMore)).toThrow(
    expect.objectContaining({ code: "too_many_scheduled_versions" }),
  );
  timeline.change(day(2), { ratePpm: 9, effectiveSince: start(1) });
  timeline.change(day(2), { ratePpm: 8 });
  expect(scheduledAfter(timeline.entries, day(2))).toHaveLength(MAX_SCHEDULED);
});

test("a replica whose clock is behind continues where the last command was made", () => {
  const { entries } = assigned().change(day(5), { ratePpm: 2 });

  expect([presentOf(entries, day(4)), presentOf(entries, day(6)), presentOf([], day(4))]).toEqual([
    day(5),
    day(6),
    day(4),
  ]);
});
