import fc from "fast-check";
import { expect, test } from "vitest";
import { ceilDivide, divideToSum, floorDivide, roundDivide, sumOf } from "./rounding.ts";
import { PoolBroken } from "./unit-pool.ts";

test("floors round down, ceilings up and halves up, for negative numbers too", () => {
  expect([7n, -7n, 6n, -6n].map((dividend) => floorDivide(dividend, 2n))).toEqual([3n, -4n, 3n, -3n]);
  expect([7n, -7n, 6n, -6n].map((dividend) => ceilDivide(dividend, 2n))).toEqual([4n, -3n, 3n, -3n]);
  expect([5n, -5n, 4n, -4n, 6n, -6n].map((dividend) => roundDivide(dividend, 4n))).toEqual([1n, -1n, 1n, -1n, 2n, -1n]);
});

test("the largest fractional parts get the missing units, the first of equals first", () => {
  expect(divideToSum([5n, 8n, 8n, 9n], 10n, 3n)).toEqual([0n, 1n, 1n, 1n]);
  expect(divideToSum([5n, 5n, 5n, 5n], 10n, 2n)).toEqual([1n, 1n, 0n, 0n]);
  expect(divideToSum([-5n, -5n], 10n, -1n)).toEqual([0n, -1n]);
});

test("the smallest fractional parts lose the excess units, the first of equals first", () => {
  expect(divideToSum([12n, 11n, 11n, 0n], 10n, 2n)).toEqual([1n, 0n, 1n, 0n]);
});

test("a dividend of 0 gets a correction only when all are 0", () => {
  expect(divideToSum([0n, 10n], 10n, 0n)).toEqual([0n, 0n]);
  expect(divideToSum([0n, 0n], 10n, -1n)).toEqual([-1n, 0n]);
});

test("a total that is not the sum of the parts is rejected", () => {
  expect(() => divideToSum([10n, 10n], 10n, 7n)).toThrow(PoolBroken);
});

test("the parts sum to the total, and no part differs by a whole unit from its exact quotient", () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(-1_000n, 1_000n), { minLength: 1 }), fc.bigInt(1n, 50n), (dividends, divisor) => {
      const all = [...dividends, floorDivide(sumOf(dividends), divisor) * divisor - sumOf(dividends)];
      const total = sumOf(all) / divisor;
      const parts = divideToSum(all, divisor, total);
      expect(sumOf(parts)).toBe(total);
      for (const [index, part] of parts.entries()) {
        const error = part * divisor - all[index]!;
        expect(error < divisor && error > -divisor).toBe(true);
      }
    }),
  );
});
