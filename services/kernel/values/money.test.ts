import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAmount, formatDecimal, parseAmount, parseDecimal, usd } from "./money.ts";

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });

test("decimal text is parsed to whole cents", () => {
  const texts = ["100", "100.5", "100.50", "0.01", "-0.05", "007.10", "1000000000.00", "-0"];
  expect(texts.map(parseDecimal)).toEqual([100_00n, 100_50n, 100_50n, 1n, -5n, 7_10n, 1_000_000_000_00n, 0n]);
});

test("text with more than two decimals is refused as precision, and other invalid text as malformed", () => {
  for (const text of ["0.001", "1.000", "-5.123456"]) {
    expect(parseAmount(text)).toEqual({ ok: false, problem: "precision" });
  }
  for (const text of ["", " 1", "1 ", "1.", ".5", "+1", "1e3", "1,000.00", "0x10", "١", "NaN", "--1", "1.2.3", "1\n"]) {
    expect(parseAmount(text)).toEqual({ ok: false, problem: "malformed" });
  }
  expect(parseAmount("9".repeat(65))).toEqual({ ok: false, problem: "malformed" });
  expect(parseDecimal("0.001")).toBeUndefined();
});

test("amounts are formatted with two decimals, also negative and huge ones", () => {
  const amounts = [0n, 1n, -1n, -5n, 99n, 100n, -100n, -12_345n, 2n ** 63n];
  expect(amounts.map((minor) => formatDecimal(usd(minor)))).toEqual([
    "0.00",
    "0.01",
    "-0.01",
    "-0.05",
    "0.99",
    "1.00",
    "-1.00",
    "-123.45",
    "92233720368547758.08",
  ]);
});

test("a formatted amount is parsed to the same amount", () => {
  fc.assert(
    fc.property(amount, (minor) => {
      expect(parseDecimal(formatDecimal(usd(minor)))).toBe(minor);
    }),
  );
});

test("an amount in a message has groups of three digits and its currency", () => {
  const amounts = [0n, -5n, 999_99n, 1_000_00n, -1_234_567_89n, 1_000_000_000_00n];
  expect(amounts.map((minor) => formatAmount(usd(minor)))).toEqual([
    "0.00 USD",
    "-0.05 USD",
    "999.99 USD",
    "1,000.00 USD",
    "-1,234,567.89 USD",
    "1,000,000,000.00 USD",
  ]);
});
