import fc from "fast-check";
import { expect, test } from "vitest";
import type { Deal, Period } from "../mt5/deals.ts";
import { firstSlice, MAX_ROWS, readGroup, type Span } from "./read-group.ts";

const MINUTE = 60_000;

/** A group with deals at these instants, on a server that returns at most `limit` rows of a period with whole seconds. */
function aGroup(times: readonly number[], limit = Number.MAX_SAFE_INTEGER) {
  const requested: Period[] = [];
  const byLogin: Period[] = [];
  const taken: number[] = [];
  const answers: number[] = [];
  const within = ({ from, to }: Period) =>
    times.filter((at) => at >= from.getTime() - 1_000 && at <= to.getTime() + 1_000);
  return {
    requested,
    byLogin,
    taken,
    answers,
    read: (span: Span, own: { slice?: { ms: number }; mayContinue?: () => boolean; refusesAfter?: number } = {}) =>
      readGroup({
        span,
        slice: own.slice ?? firstSlice(),
        find: async (period) => {
          requested.push(period);
          if (requested.length > (own.refusesAfter ?? Infinity)) return { kind: "refused", reason: "8 no right" };
          const rows = within(period);
          if (rows.length > limit) return { kind: "too_many" };
          answers.push(rows.length);
          const deals = rows.map((at) => ({ at: new Date(at) }) as Deal);
          return { kind: "read", deals, rows: rows.length, unreadable: new Set() };
        },
        take: async ({ deals }) => void taken.push(...deals.map(({ at }) => at.getTime())),
        readByLogin: async (period) => {
          byLogin.push(period);
          taken.push(...within(period));
        },
        mayContinue: async () => own.mayContinue?.() ?? true,
      }),
  };
}

const spanOf = (lengthMs: number): Span => ({ fromMs: 1_000_000, nowMs: 1_000_000 + lengthMs, toMs: 1_000_000_000 });

test("the period of an idle group is one request once the reader has learned that little happens there", async () => {
  const group = aGroup([]);
  const slice = firstSlice();
  expect(await group.read(spanOf(60 * MINUTE), { slice })).toEqual({ kind: "done" });
  expect(group.requested.length).toBeLessThan(8);
  const again = aGroup([]);
  await again.read(spanOf(60 * MINUTE), { slice });
  expect(again.requested).toEqual([{ from: new Date(1_000_000), to: new Date(1_000_000_000) }]);
});

test("a slice with too many rows is read again in halves, and the length is kept for the next slices", async () => {
  const times = Array.from({ length: 5 * MAX_ROWS }, (_, index) => 1_000_000 + index * 10);
  const group = aGroup(times);
  await group.read(spanOf(MINUTE));
  expect(new Set(group.taken)).toEqual(new Set(times));
  // Of 60, 30 and 15 seconds; then the deals are read in slices of half that, with less than a thousand rows each.
  expect(group.answers.filter((rows) => rows > MAX_ROWS)).toHaveLength(3);
  expect(group.requested.length).toBeLessThan(14);
});

test("what the server cannot answer in the shortest slice is read by login, and the rest by group", async () => {
  const burst = Array.from({ length: 50 }, () => 1_030_000);
  const group = aGroup([1_000_500, ...burst, 1_059_000], 20);
  expect(await group.read(spanOf(MINUTE))).toEqual({ kind: "done" });
  expect(group.byLogin.length).toBeGreaterThan(0);
  expect(group.byLogin.every(({ from, to }) => to.getTime() - from.getTime() <= 4_000)).toBe(true);
  expect(new Set(group.taken)).toEqual(new Set([1_000_500, 1_030_000, 1_059_000]));
});

test("from a refusal on, the whole rest of the period is read by login", async () => {
  const group = aGroup([1_001_000, 1_100_000]);
  expect(await group.read(spanOf(3 * MINUTE), { refusesAfter: 1 })).toEqual({ kind: "refused", reason: "8 no right" });
  expect(group.byLogin).toEqual([{ from: new Date(1_060_000), to: new Date(1_000_000_000) }]);
  expect(group.taken).toEqual([1_001_000, 1_100_000]);
});

test("a reader that lost its lease stops after the slice", async () => {
  const group = aGroup([]);
  expect(await group.read(spanOf(60 * MINUTE), { mayContinue: () => false })).toEqual({ kind: "stopped" });
  expect(group.requested).toHaveLength(1);
});

test("after a failure the next try is half as long", async () => {
  const slice = firstSlice();
  const fail = () => Promise.reject(new Error("planted"));
  const reading = { span: spanOf(MINUTE), slice, find: fail, take: fail, readByLogin: fail, mayContinue: fail };
  await expect(readGroup(reading)).rejects.toThrow("planted");
  expect(slice.ms).toBe(30_000);
});

test("every deal of a period is taken, slice by slice in the order of time, whatever the server's limit is", async () => {
  const inputs = fc.record({
    times: fc.array(fc.integer({ min: 0, max: 10 * MINUTE }), { maxLength: 60 }),
    limit: fc.integer({ min: 1, max: 80 }),
    lengthMs: fc.integer({ min: 0, max: 10 * MINUTE }),
    sliceMs: fc.integer({ min: 2_000, max: 20 * MINUTE }),
  });
  await fc.assert(
    fc.asyncProperty(inputs, async ({ times, limit, lengthMs, sliceMs }) => {
      const deals = times.map((at) => 1_000_000 + at).toSorted((a, b) => a - b);
      const group = aGroup(deals, limit);
      expect(await group.read(spanOf(lengthMs), { slice: { ms: sliceMs } })).toEqual({ kind: "done" });
      expect(new Set(group.taken)).toEqual(new Set(deals));
      expect(Math.max(0, ...group.answers)).toBeLessThanOrEqual(limit);
      expect(group.requested.length).toBeLessThan(3_000);
    }),
    { numRuns: 300 },
  );
});
