import { expect, test } from "vitest";
import { feesByWeek } from "./fees-by-week.ts";

test("fees are summed by the week in which they were collected", () => {
  const days = [
    { day: "2026-11-22", fees: "0.10" },
    { day: "2026-11-23", fees: "0.20" },
    { day: "2026-11-29", fees: "0.10" },
    { day: "2026-12-01", fees: "0" },
  ];
  expect(feesByWeek(days)).toEqual([
    { at: "2026-11-16", values: ["0.10"] },
    { at: "2026-11-23", values: ["0.30"] },
  ]);
});
