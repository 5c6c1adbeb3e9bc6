import { expect, test } from "vitest";
import { calendarOf, UTC } from "#kernel/time-zone.ts";
import {
  chainValuations,
  type DayPart,
  fallOf,
  FIRST_VALUE,
  joinDays,
  maxDrawdown,
  partsOf,
  type PerformanceDay,
  type Valuation,
} from "./performance.ts";
import { valuationsOf, valuationsOfMarks } from "../processes/allocate/valuations.ts";
import { aDeal, aMark, aPool, after, pooled, struck, withDeposit } from "../testing/pools.ts";
import { allocateDeal } from "./pool/allocate-deal.ts";
import { valueOfUnits } from "./pool/equity.ts";
import { valuePositions } from "./pool/strike-pool.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

const E8 = 100_000_000n;

function aValuation(at: string, before: bigint, afterwards: bigint, result = 0n): Valuation {
  return {
    at: new Date(at),
    dealId: 1n,
    before: before * E8,
    after: afterwards * E8,
    units: 10n,
    isOpen: false,
    result,
  };
}

/** Marks of open positions that make the value what it is. */
const floating = (at: string, before: bigint, afterwards: bigint): Valuation => {
  return { ...aValuation(at, before, afterwards), isOpen: true };
};

const addValuations = (last: DayPart | undefined, valuations: readonly Valuation[], serverDays = UTC) =>
  partsOf(chainValuations(last, valuations, serverDays));

const shown = (days: readonly PerformanceDay[]) =>
  days.map(({ day, value, peak, drawdownPpm }) => [
    day,
    Number(value) / Number(FIRST_VALUE),
    Number(peak) / Number(FIRST_VALUE),
    drawdownPpm,
  ]);

test("the value of a unit is the product of the changes between flows, by day", () => {
  const days = addValuations(undefined, [
    aValuation("2026-01-05T10:00:00Z", 1_000n, 1_100n, 100_00n),
    // A deposit of 1,100 in between buys units and changes nothing.
    aValuation("2026-01-05T12:00:00Z", 2_200n, 1_980n, -220_00n),
    aValuation("2026-01-06T09:00:00Z", 1_980n, 2_178n, 198_00n),
  ]);

  expect(shown(days)).toEqual([
    ["2026-01-05", 0.99, 1.1, 100_000],
    ["2026-01-06", 1.089, 1.1, 10_000],
  ]);
  expect(days.map(({ result }) => result)).toEqual([-120_00n, 198_00n]);
});

test("a valuation continues the stored day, and one that is dated before it counts in it", () => {
  const [stored] = addValuations(undefined, [aValuation("2026-01-06T09:00:00Z", 100n, 110n)]);
  const days = addValuations(stored, [aValuation("2026-01-05T23:59:00Z", 110n, 99n)]);

  expect(shown(days)).toEqual([["2026-01-06", 0.99, 1.1, 100_000]]);
});

test("after a total loss the value begins with 1 again, and units without a value change nothing", () => {
  const lost = addValuations(undefined, [
    aValuation("2026-01-05T10:00:00Z", 100n, -20n),
    aValuation("2026-01-05T11:00:00Z", -20n, 5n),
  ]);
  expect(shown(lost)).toEqual([["2026-01-05", 0, 1, 1_000_000]]);

  const again = addValuations(lost[0], [aValuation("2026-01-07T10:00:00Z", 500n, 550n)]);
  expect(shown(again)).toEqual([["2026-01-07", 1.1, 1.1, 0]]);
});

function closing(pool: UnitPool, positionId: bigint, result: bigint) {
  const allocation = allocateDeal(pool, aDeal({ positionId, result }));
  const deal = { dealAt: new Date("2026-01-05T10:00:00Z"), dealId: 7n, amount: result };
  return valuationsOf([{ kind: "result", deal, pool: allocation.pool, before: pool }]);
}

test("A1: a deposit while a profit floats changes no value; 1.45 before it and 2.175 when the position has closed", () => {
  const opened = after(aPool(1_000_00n), { kind: "entry", positionId: 1n, volumeClosed: 0n });
  const marks = [aMark(1n, 450_00n)];
  const at = { at: new Date("2026-01-05T09:00:00Z"), dealId: 6n };
  const joined = struck(withDeposit(opened, 2n, 550_00n), ...marks);
  const days = addValuations(undefined, [...valuationsOfMarks(opened, marks, at), ...closing(joined, 1n, 1_450_00n)]);

  expect(shown(days)).toEqual([["2026-01-05", 2.175, 2.175, 0]]);
  expect(pooled(after(joined, { positionId: 1n, result: 1_450_00n }))).toEqual([2_175_00n, 825_00n]);
});

test("a pool is valued at its marks without a change of what it is made of, and a close replaces the mark by its result", () => {
  const opened = after(aPool(1_000_00n), { kind: "entry", positionId: 1n, volumeClosed: 0n });
  const valued = valuePositions(opened, [aMark(1n, -600_00n)]);
  expect(valuePositions(valued, [aMark(1n, 0n)])).toEqual(opened);
  expect(pooled(valued)).toEqual(pooled(opened));

  const { pool: closed } = allocateDeal(valued, aDeal({ positionId: 1n, result: 50_00n }));
  expect([opened, valued, closed].map(valueOfUnits)).toEqual([1_000n * E8, 400n * E8, 1_050n * E8]);
  const volume = opened.positions[0]!.volume / 2n;
  const half = allocateDeal(valued, aDeal({ positionId: 1n, volume, volumeClosed: volume, result: -300_00n }));
  expect(valueOfUnits(half.pool)).toBe(400n * E8);
});

test("equity that floated at -60 % and closed at +5 % has fallen by 60 %", () => {
  const days = addValuations(undefined, [
    floating("2026-01-05T10:00:00Z", 1_000n, 400n),
    floating("2026-01-05T11:00:00Z", 400n, 700n),
    aValuation("2026-01-06T10:00:00Z", 700n, 1_050n, 50_00n),
  ]);
  expect(shown(days)).toEqual([
    ["2026-01-05", 0.7, 1, 600_000],
    ["2026-01-06", 1.05, 1.05, 0],
  ]);
  expect([maxDrawdown(FIRST_VALUE, days), maxDrawdown(days[0]!.value, days.slice(1))]).toEqual([600_000, 0]);
});

test("the largest fall of a period needs its low after its high, within a day and between days", () => {
  const path = (...values: readonly bigint[]) =>
    values.map((value, index) =>
      floating(`2026-01-0${5 + Math.floor(index / 2)}T${10 + (index % 2)}:00:00Z`, values[index - 1] ?? 100n, value),
    );
  const fallen = (...values: readonly bigint[]) => maxDrawdown(FIRST_VALUE, addValuations(undefined, path(...values)));
  expect(fallen(50n, 200n)).toBe(500_000);
  expect(fallen(200n, 50n)).toBe(750_000);
  expect(fallen(150n, 200n, 180n, 120n)).toBe(400_000);
  expect(fallen(120n, 160n, 160n, 200n)).toBe(0);
  // A value that was higher before the period is not of it.
  const days = addValuations(undefined, path(200n, 100n, 110n, 99n));
  expect(maxDrawdown(days[0]!.value, days.slice(1))).toBe(100_000);
});

test("what marks have made worthless is worth something again when they recover, and lost when the pool is flat", () => {
  const [day] = addValuations(undefined, [
    floating("2026-01-05T10:00:00Z", 1_000n, -100n),
    floating("2026-01-05T11:00:00Z", -100n, -50n),
  ]);
  expect([day!.value, day!.fallPpm, fallOf(day!)]).toEqual([FIRST_VALUE, 1_000_000, 1_000_000]);
  const recovered = addValuations(day, [aValuation("2026-01-05T12:00:00Z", -50n, 1_050n, 50_00n)]);
  expect(recovered.map(({ value, lowest, fallPpm }) => [value, lowest > 0n, fallPpm])).toEqual([
    [(FIRST_VALUE * 105n) / 100n, true, 1_000_000],
  ]);
  const lost = addValuations(day, [aValuation("2026-01-05T12:00:00Z", -50n, -40n, -1_040_00n)]);
  expect(lost.map(({ value, lowest }) => [value, lowest])).toEqual([[0n, 0n]]);
});

test("parts of days are days of UTC and of the server, whose night is in two of them", () => {
  const athens = calendarOf("Europe/Athens");
  const parts = addValuations(
    undefined,
    [
      aValuation("2026-01-31T10:00:00Z", 100n, 110n, 10_00n),
      aValuation("2026-01-31T23:30:00Z", 110n, 99n, -11_00n),
      aValuation("2026-02-01T10:00:00Z", 99n, 198n, 99_00n),
    ],
    athens,
  );
  const days = (dayOf: (part: DayPart) => string) =>
    joinDays(parts, dayOf).map(({ day, value, result, fallPpm }) => [day, Number(value) / 1e18, result, fallPpm]);
  expect(days(({ day }) => day)).toEqual([
    ["2026-01-31", 0.99, -1_00n, 100_000],
    ["2026-02-01", 1.98, 99_00n, 0],
  ]);
  expect(days(({ serverDay }) => serverDay)).toEqual([
    ["2026-01-31", 1.1, 10_00n, 0],
    ["2026-02-01", 1.98, 88_00n, 0],
  ]);
  expect(
    maxDrawdown(
      FIRST_VALUE,
      joinDays(parts, ({ serverDay }) => serverDay),
    ),
  ).toBe(100_000);
});

test("a day on which everything was lost says so whatever came afterwards, also twice", () => {
  const days = addValuations(undefined, [
    aValuation("2026-01-05T10:00:00Z", 100n, 0n),
    aValuation("2026-01-05T11:00:00Z", 500n, 600n),
    aValuation("2026-01-05T12:00:00Z", 600n, -5n),
    aValuation("2026-01-05T13:00:00Z", 500n, 550n),
  ]);
  expect(days.map(({ value, lowest, drawdownPpm }) => [value, lowest, drawdownPpm])).toEqual([
    [(FIRST_VALUE * 11n) / 10n, 0n, 1_000_000],
  ]);
  expect(maxDrawdown(FIRST_VALUE, days)).toBe(1_000_000);
});
