import { expect, test } from "vitest";
import { UTC } from "#kernel/values/time-zone.ts";
import {
  chainValuations,
  type DayPart,
  fallOf,
  FIRST_VALUE,
  maxDrawdown,
  partsOf,
  type PerformanceDay,
  type Valuation,
} from "./performance.ts";

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
