import fc from "fast-check";
import { expect, test } from "vitest";
import { PoolBroken } from "./pool-broken.ts";
import { ceilDivide, divideToSum, floorDivide, roundDivide, sumOf } from "./rounding.ts";

test("floors go down, ceilings up, and halves up, on both sides of 0", () => {
  expect([7n, -7n, 6n, -6n].map((dividend) => floorDivide(dividend, 2n))).toEqual([3n, -4n, 3n, -3n]);
  expect([7n, -7n, 6n, -6n].map((dividend) => ceilDivide(dividend, 2n))).toEqual([4n, -3n, 3n, -3n]);
  expect([5n, -5n, 4n, -4n, 6n, -6n].map((dividend) => roundDivide(dividend, 4n))).toEqual([1n, -1n, 1n, -1n, 2n, -1n]);
});

test("the largest fractional parts get what is missing, the first of equals", () => {
  expect(divideToSum([5n, 8n, 8n, 9n], 10n, 3n)).toEqual([0n, 1n, 1n, 1n]);
  expect(divideToSum([5n, 5n, 5n, 5n], 10n, 2n)).toEqual([1n, 1n, 0n, 0n]);
  expect(divideToSum([-5n, -5n], 10n, -1n)).toEqual([0n, -1n]);
});

test("the smallest fractional parts give back what is too much, the first of equals", () => {
  expect(divideToSum([12n, 11n, 11n, 0n], 10n, 2n)).toEqual([1n, 0n, 1n, 0n]);
});

test("who has nothing to divide takes part only when nobody has", () => {
  expect(divideToSum([0n, 10n], 10n, 0n)).toEqual([0n, 0n]);
  expect(divideToSum([0n, 0n], 10n, -1n)).toEqual([-1n, 0n]);
});

test("parts of another total are not forced", () => {
  expect(() => divideToSum([10n, 10n], 10n, 7n)).toThrow(PoolBroken);
});

test("whatever is divided sums to its total, and no part is a whole unit away from its due", () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(-1_000n, 1_000n), { minLength: 1 }), fc.bigInt(1n, 50n), (dividends, divisor) => {
      const all = [...dividends, floorDivide(sumOf(dividends), divisor) * divisor - sumOf(dividends)];
      const total = sumOf(all) / divisor;
      const parts = divideToSum(all, divisor, total);
      expect(sumOf(parts)).toBe(total);
      for (const [index, part] of parts.entries()) {
        const away = part * divisor - all[index]!;
        expect(away < divisor && away > -divisor).toBe(true);
      }
    }),
  );
});
