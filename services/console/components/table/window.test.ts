import { expect, test } from "vitest";
import { rangeOf } from "./window.ts";

test("a short table is drawn whole, a long one where it is seen", () => {
  expect(rangeOf(0, 0, 600, 30)).toEqual({ from: 0, to: 0 });
  expect(rangeOf(80, 0, 600, 30)).toEqual({ from: 0, to: 80 });
  expect(rangeOf(100_000, 0, 600, 30)).toEqual({ from: 0, to: 50 });
  expect(rangeOf(100_000, 30 * 50_000, 600, 30)).toEqual({ from: 49_980, to: 50_050 });
  expect(rangeOf(100_000, 30 * 100_000, 600, 30).to).toBe(100_000);
});
