import { expect, test } from "vitest";
import { cutOffsBetween } from "./weeks.ts";

const TENS = { periodMs: 10, anchor: 3 };

test("weeks end at the anchor and at every multiple of the period before and after it", () => {
  expect(cutOffsBetween(TENS, 3, 33)).toEqual([13, 23, 33]);
  expect(cutOffsBetween(TENS, 12, 13)).toEqual([13]);
  expect(cutOffsBetween(TENS, 13, 22)).toEqual([]);
  expect(cutOffsBetween(TENS, -9, 3)).toEqual([-7, 3]);
});
