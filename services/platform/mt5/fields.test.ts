import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMinor } from "#kernel/values/money.ts";
import { exactMinor, fieldsOf, roundedMinor } from "./fields.ts";
import { readJson } from "./http/json.ts";

test("money is read exactly, with any number of trailing zeros", () => {
  expect(exactMinor("2500.00")).toBe(2500_00n);
  expect(exactMinor("-0.05")).toBe(-5n);
  expect(exactMinor("26000")).toBe(26000_00n);
  expect(exactMinor("1.5")).toBe(1_50n);
  expect(exactMinor("100.000000")).toBe(100_00n);
  expect(exactMinor("-0.00")).toBe(0n);
});

test("money finer than a cent or not a plain decimal is rejected", () => {
  for (const text of ["0.005", "1.001", "1e3", "", " 1", "1.", ".5", "+1", "1,000.00", "NaN", "--1", "0x1", "1.2.3"]) {
    expect(exactMinor(text), text).toBeUndefined();
  }
});

test("whole numbers are read up to an int64, and money up to 1e18 minor units", () => {
  const read = (text: string) => fieldsOf(readJson(`{"N":"${text}"}`));
  const max = 2n ** 63n - 1n;
  expect(read(String(max)).integer("N")).toBe(max);
  expect(read(String(-max)).integer("N")).toBe(-max);
  for (const digits of [max + 1n, -max - 1n]) expect(() => read(String(digits)).integer("N")).toThrow("cannot be read");
  expect(read("10000000000000000.00").minor("N")).toBe(10n ** 18n);
  for (const money of ["10000000000000000.01", "-10000000000000000.01"]) {
    expect(() => read(money).minor("N")).toThrow("cannot be read");
  }
});

test("floating amounts are rounded half to even", () => {
  expect(["0.005", "0.015", "0.0251", "0.0249", "-0.015", "1.999", "3"].map(roundedMinor)).toEqual([
    0n,
    2n,
    3n,
    2n,
    -2n,
    200n,
    300n,
  ]);
  expect(roundedMinor("x")).toBeUndefined();
});

test("a formatted amount has two decimals and is read back unchanged", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (minor) => {
      const text = formatMinor(minor);
      expect(text).toMatch(/^-?\d+\.\d{2}$/);
      expect(exactMinor(text)).toBe(minor);
      expect(roundedMinor(text)).toBe(minor);
    }),
  );
});
