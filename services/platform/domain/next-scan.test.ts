import { expect, test } from "vitest";
import type { LegKind } from "./leg-kind.ts";
import { nextScanMs } from "./next-scan.ts";

const pausesOf = (kind: LegKind) =>
  Array.from({ length: 30 }, (_, index) => nextScanMs({ kind, attempt: index + 1, absences: 0, state: "INTENT" })!);

test("the pauses of a leg that its service can request anew double up to half a minute", () => {
  expect(pausesOf("mirror").slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(pausesOf("mirror").at(-1)).toBe(30_000);
});

test.each(["fee_credit", "reversal"] as const)("a %s is attempted for four days, with growing pauses", (kind) => {
  const pauses = pausesOf(kind);
  expect(pauses.slice(0, 8)).toEqual([100, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000]);
  expect(pauses.toSorted((a, b) => a - b)).toEqual(pauses);
  const days = pauses.reduce((sum, pause) => sum + pause, 0) / 86_400_000;
  expect(days).toBeGreaterThan(3.5);
  expect(days).toBeLessThan(4.5);
});
