import { expect, test } from "vitest";
import { lastDays, mondayOf, periodOf, piecesOf } from "./period.ts";

const NOW = Date.UTC(2026, 2, 1, 23, 59);

test("the last days include today", () => {
  expect(lastDays(1, NOW)).toEqual({ from: "2026-03-01", to: "2026-03-02" });
  expect(lastDays(30, NOW)).toEqual({ from: "2026-01-31", to: "2026-03-02" });
});

test.each(["", "from=2026-01-05&to=2026-01-05", "from=x&to=2026-01-05", "from=2026-02-40"])(
  "%j is no period, so another one is shown",
  (query) => expect(periodOf(new URLSearchParams(query), lastDays(1, NOW))).toEqual(lastDays(1, NOW)),
);

test("a long period is read in pieces that join", () => {
  const pieces = piecesOf({ from: "2024-01-01", to: "2026-01-02" });
  expect(pieces).toEqual([
    { from: "2024-01-01", to: "2025-01-01" },
    { from: "2025-01-01", to: "2026-01-02" },
  ]);
  expect(piecesOf({ from: "2026-01-01", to: "2026-01-02" })).toHaveLength(1);
});

test("a week begins on Monday", () => {
  expect(["2026-11-23", "2026-11-26", "2026-11-29", "2026-11-30"].map(mondayOf)).toEqual([
    "2026-11-23",
    "2026-11-23",
    "2026-11-23",
    "2026-11-30",
  ]);
});

test("a mistyped year does not ask for centuries", () => {
  const { from, to } = periodOf(new URLSearchParams("from=0026-01-01&to=2026-01-01"), lastDays(1, NOW));
  expect([to, piecesOf({ from, to }).length]).toEqual(["2026-01-01", 20]);
});
