import { expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { belowMark, layersOf, partsOf } from "./layers.ts";

const AT = "2026-01-02T03:04:05.678000";
const layer = (amount: string, rate: string | null): Models["FeeLayer"] => ({
  amount,
  earned_from: AT,
  earned_to: AT,
  rate,
  version_id: null,
  share: "0.00",
});
const CALCULATION: Models["FeeCalculation"] = {
  at: AT,
  through_deal_id: null,
  through_deal_at: null,
  result: "1000.00",
  high_water_mark_before: "0.00",
  high_water_mark_after: "600.00",
  floating: "-400.00",
  marked_at: AT,
  marked_late_seconds: null,
  charged: [layer("100.00000001", "0.300000"), layer("200.00", "0.250000"), layer("299.99999999", "0.300000")],
  spared: [layer("400.00", "0.300000")],
  exact_fee: "0.00",
  rounded_off: "0.00",
  fee: "0.00",
  debt_before: "0.00",
};

test("layers are numbered from the oldest one, spared ones last", () => {
  expect(layersOf(CALCULATION).map(({ number, isSpared }) => [number, isSpared])).toEqual([
    [1, false],
    [2, false],
    [3, false],
    [4, true],
  ]);
});

test("parts add up to the result above the mark, and one rate has one shade", () => {
  const { parts, whole } = partsOf(CALCULATION);
  expect(whole).toBe("1000.00");
  expect(parts.map(({ title, shade }) => [title, shade])).toEqual([
    ["Layer 1 at 30 %", 0],
    ["Layer 2 at 25 %", 1],
    ["Layer 3 at 30 %", 0],
    ["Layer 4, spared", "spared"],
  ]);
});

test("a result below the mark has no layer, and the distance is exact", () => {
  expect(belowMark(CALCULATION)).toBeUndefined();
  expect(belowMark({ ...CALCULATION, result: "-0.00000001", high_water_mark_before: "50.00" })).toBe("50.00000001");
});
