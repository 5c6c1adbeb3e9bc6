import { expect, test } from "vitest";
import { groupMask } from "./group-mask.ts";

const GROUPS = ["managers", "pamm\\master", "pamm\\investor", "Pamm\\master", "real\\pamm-usd", "real\\pamm-test"];

test.each([
  ["*", GROUPS],
  ["pamm\\*", ["pamm\\master", "pamm\\investor"]],
  ["pamm\\master", ["pamm\\master"]],
  ["real\\pamm*,!real\\pamm-test", ["real\\pamm-usd"]],
  ["*,!*master", ["managers", "pamm\\investor", "real\\pamm-usd", "real\\pamm-test"]],
  ["*mm*st*r", ["pamm\\master", "pamm\\investor", "Pamm\\master"]],
  ["!managers", []],
  ["", []],
  ["pamm", []],
  ["managers*managers", []],
])("the mask %j matches the expected groups", (mask, expected) => {
  expect(GROUPS.filter(groupMask(mask))).toEqual(expected);
});

test("a mask with thousands of wildcards is matched in time that grows with its length", () => {
  const begin = performance.now();
  expect(groupMask("*a".repeat(5_000))("a".repeat(4_999))).toBe(false);
  expect(performance.now() - begin).toBeLessThan(10_000);
});
