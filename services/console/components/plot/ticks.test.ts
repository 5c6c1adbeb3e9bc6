import { expect, test } from "vitest";
import { timeTicks, valueTicks } from "./ticks.ts";

test("neighbouring ticks have different texts", () => {
  expect(valueTicks("amount", [1.0001, 1.0002, 1.0003], 0.0001)).toEqual(["1.0001", "1.0002", "1.0003"]);
  expect(valueTicks("amount", [-2_500_000, 0, 2_500_000], 2_500_000)).toEqual(["−2,500,000", "0", "2,500,000"]);
  expect(valueTicks("ratio", [0, 0.005, 0.01], 0.005)).toEqual(["0.0 %", "0.5 %", "1.0 %"]);
});

test("times are UTC, with the day where it begins to count", () => {
  const at = (hour: number) => Date.UTC(2026, 0, 2, hour) / 1_000;
  expect(timeTicks([at(12), at(24)], 86_400)).toEqual(["2026-01-02", "2026-01-03"]);
  expect(timeTicks([at(12), at(18), at(24)], 21_600)).toEqual(["12:00\n2026-01-02", "18:00", "00:00\n2026-01-03"]);
  expect(timeTicks([at(12)], 30)).toEqual(["12:00:00\n2026-01-02"]);
  expect(timeTicks([at(12) + 0.5, at(12) + 1], 0.5)).toEqual(["12:00:00.5\n2026-01-02", "12:00:01.0"]);
});
