import { expect, test } from "vitest";
import { FULL, loginOf, QUICK, reservedOf, resultOf, stepsOf, unreservedOf } from "./sizes.ts";

test.each([
  ["full", FULL, 1_000_000],
  ["quick", QUICK, 20_000],
])("every Investor of the %s sizes is in one pool or outside", (_, sizes, total) => {
  const steps = stepsOf(sizes);
  const ranges = steps.flatMap(({ outside, pools }) => [...pools, outside]).filter(({ first, last }) => last >= first);
  let next = 1;
  for (const { first, last } of ranges) {
    expect(first).toBe(next);
    next = last + 1;
  }
  expect(next).toBe(total + 1);
  const masters = steps.flatMap(({ pools }) => pools.map(({ master }) => master));
  expect(masters).toEqual(masters.map((_each, index) => index + 1));
});

test("the exits of the full sizes find a hundred Masters with a hundred Investors, and the backlog a thousand", () => {
  const small = stepsOf(FULL).flatMap(({ pools }) => pools.filter(({ size }) => size === "small"));
  expect(small).toHaveLength(1_000);
  expect(small.every(({ first, last }) => last - first + 1 === 100)).toBe(true);
});

test("pools with more Investors than their step are refused", () => {
  const steps = [{ investors: 10, pools: { small: 2, medium: 0, large: 0 } }];
  expect(() => stepsOf({ pool: { small: 6, medium: 1, large: 1 }, steps })).toThrow(RangeError);
});

test("logins of different roles differ, and 58 of 100 Investors have a profit", () => {
  expect(new Set([loginOf("investor", 7), loginOf("master", 7), loginOf("payment", 7)]).size).toBe(3);
  expect(Array.from({ length: 100 }, (_, n) => resultOf(n)).filter((minor) => minor > 0)).toHaveLength(58);
});

test("reserved Investors are in no pool and not among the others", () => {
  const steps = stepsOf(QUICK);
  const reserved = reservedOf(steps);
  expect(reserved.last - reserved.first + 1).toBe(200);
  const others = unreservedOf(steps, steps);
  expect(others.every(({ last }) => last < reserved.first)).toBe(true);
  expect(others.at(-1)?.last).toBe(reserved.first - 1);
});
