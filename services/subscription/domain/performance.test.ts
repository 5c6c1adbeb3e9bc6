import { expect, test } from "vitest";
import { chainValuations, daysOf, fallOf, FIRST_VALUE, type PerformanceDay, type Valuation } from "./performance.ts";
import { valuationsOf, valuationsOfMarks } from "../processes/allocate/valuations.ts";
import { aDeal, aMark, aPool, after, pooled, struck, withDeposit } from "../testing/pools.ts";
import { allocateDeal } from "./pool/allocate-deal.ts";
import type { UnitPool } from "./pool/unit-pool.ts";

const E8 = 100_000_000n;

function aValuation(at: string, before: bigint, afterwards: bigint, result = 0n): Valuation {
  return { at: new Date(at), dealId: 1n, before: before * E8, after: afterwards * E8, units: 10n, result };
}

const addValuations = (last: PerformanceDay | undefined, valuations: readonly Valuation[]) =>
  daysOf(chainValuations(last, valuations));

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

test("each valuation leaves a value and its fall below the highest one, and units without a value leave nothing", () => {
  const chain = chainValuations(undefined, [
    aValuation("2026-01-05T10:00:00Z", 1_000n, 1_100n),
    aValuation("2026-01-05T11:00:00Z", 1_100n, 825n),
    aValuation("2026-01-05T12:00:00Z", 0n, 5n),
    aValuation("2026-01-05T13:00:00Z", 825n, 990n),
  ]);

  expect(chain.map((day) => day && [Number(day.value) / Number(FIRST_VALUE), fallOf(day)])).toEqual([
    [1.1, 0],
    [0.825, 250_000],
    undefined,
    [0.99, 100_000],
  ]);
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
