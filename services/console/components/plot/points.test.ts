import { expect, test } from "vitest";
import { formatAmount } from "../../formats/decimal.ts";
import { type PlotPoint, type PlotSeries, positionsOf, summaryOf, timeOf } from "./points.ts";

const SERIES: readonly PlotSeries[] = [{ title: "NAV", kind: "line", tone: "accent", show: formatAmount }];

function pointsOf(count: number): PlotPoint[] {
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString().replace("Z", "000"),
    values: [index === 5 ? null : `${index}.25`],
  }));
}

test.each([10, 100_000])("%i points keep their places and their gap", (count) => {
  const [times, values] = positionsOf(pointsOf(count), 1);
  expect([times.length, values?.length]).toEqual([count, count]);
  expect(times[0]).toBe(Date.UTC(2026, 0, 1) / 1_000);
  expect(times.at(-1)).toBe(Date.UTC(2026, 0, 1) / 1_000 + (count - 1) * 60);
  expect([values?.[4], values?.[5], values?.at(-1)]).toEqual([4.25, null, count - 0.75]);
});

test("a day is a point at its beginning in UTC", () => {
  expect(positionsOf([{ at: "2026-01-02", values: ["1"] }], 1)).toEqual([[Date.UTC(2026, 0, 2) / 1_000], [1]]);
  expect([timeOf("2026-01-02"), timeOf("2026-01-02T03:04:05.678000")]).toEqual([
    "2026-01-02",
    "2026-01-02 03:04:05 UTC",
  ]);
});

test("the summary has the values as the API sent them", () => {
  const points = [
    { at: "2026-01-02", values: ["1.10"] },
    { at: "2026-01-03", values: [null] },
    { at: "2026-01-04", values: ["90071992547409931.07"] },
    { at: "2026-01-05", values: ["90071992547409931.06"] },
  ];
  expect(summaryOf("NAV per unit", points, SERIES)).toBe(
    "NAV per unit: 4 values from 2026-01-02 to 2026-01-05. NAV: first 1.10, last 90,071,992,547,409,931.06, " +
      "lowest 1.10 at 2026-01-02, highest 90,071,992,547,409,931.07 at 2026-01-04.",
  );
  expect(summaryOf("NAV per unit", [], SERIES)).toBe("NAV per unit: no values.");
  expect(summaryOf("P", [{ at: "2026-01-02", values: [null] }], SERIES)).toBe(
    "P: 1 value from 2026-01-02 to 2026-01-02. NAV: no values.",
  );
});
