import fc from "fast-check";
import { expect, test } from "vitest";
import { divideHalfAway, formatScaled, parseExact, parseRounded } from "./decimal.ts";
import { formatLots } from "./units.ts";

test("formatted decimals are parsed to the same value", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 8 }), (value, digits) => {
      expect(parseExact(formatScaled(value, digits), digits)).toBe(value);
    }),
  );
});

test("an exact decimal may only have additional zeros", () => {
  expect(parseExact("1.10000000", 5)).toBe(110_000n);
  expect(parseExact("1.100001", 5)).toBeUndefined();
  expect(parseExact("-0.01", 2)).toBe(-1n);
  expect(parseExact("+7", 2)).toBe(700n);
  for (const text of ["", " 1", "1.", ".5", "1e3", "0x10", "1,5", "--1", "NaN", "9".repeat(41)]) {
    expect([text, parseExact(text, 2)]).toEqual([text, undefined]);
  }
});

test("a half is rounded away from zero", () => {
  expect(["1.004", "1.005", "-1.005", "-1.0049999", "0.005"].map((text) => parseRounded(text, 2))).toEqual([
    100n,
    101n,
    -101n,
    -100n,
    1n,
  ]);
  expect([divideHalfAway(5n, 2n), divideHalfAway(-5n, 2n), divideHalfAway(5n, -2n), divideHalfAway(4n, 3n)]).toEqual([
    3n,
    -3n,
    -3n,
    1n,
  ]);
});

test("lots have two decimals, and more only when they are not zero", () => {
  expect([100_000_000n, 1_000_000n, 1_500_000n, 1n, 0n].map(formatLots)).toEqual([
    "1.00",
    "0.01",
    "0.015",
    "0.00000001",
    "0.00",
  ]);
});
