import { expect, test } from "vitest";
import { reasonsFor } from "./high-water.ts";

const THIRTY = [{ at: 0, ppm: 300_000n }];
const fees = (results: readonly bigint[], rates = THIRTY): string[] =>
  reasonsFor(
    { results: results.map((minor, week) => ({ at: week * 10 + 5, minor })), rates },
    results.map((_, week) => week * 10 + 10),
  ).map(({ fee }) => String(fee));

test("each profit is charged once, and a loss is recovered first", () => {
  expect(fees([1_000_00n, 500_00n])).toEqual(["30000", "15000"]);
  expect(fees([1_000_00n, -600_00n, 400_00n, 500_00n])).toEqual(["30000", "0", "0", "9000"]);
});

test("a fee below a cent leaves the high-water mark unchanged", () => {
  expect(fees([3n, 1n])).toEqual(["0", "1"]);
});

test("each result has the rate of its own time, and a loss reduces the latest profit first", () => {
  const rates = [
    { at: 0, ppm: 200_000n },
    { at: 20, ppm: 300_000n },
  ];
  const results = [
    { at: 10, minor: 1_000_00n },
    { at: 20, minor: 500_00n },
    { at: 30, minor: -100_00n },
    { at: 40, minor: -600_00n },
  ];
  const [reason] = reasonsFor({ results: results.slice(0, 3), rates }, [50]);
  expect(reason).toEqual({
    profits: [
      { minor: 1_000_00n, ppm: 200_000n },
      { minor: 400_00n, ppm: 300_000n },
    ],
    fee: 320_00n,
  });
  expect(reasonsFor({ results, rates }, [50])).toEqual([
    { profits: [{ minor: 800_00n, ppm: 200_000n }], fee: 160_00n },
  ]);
});

test("a result belongs to the week in which its deal was made", () => {
  const results = [{ at: 10, minor: 100_00n }];
  expect(reasonsFor({ results, rates: THIRTY }, [10, 20]).map(({ fee }) => fee)).toEqual([0n, 30_00n]);
});
