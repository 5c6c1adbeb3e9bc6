import fc from "fast-check";
import { expect, test } from "vitest";
import { negate, usd } from "./money.ts";
import { formatRate, multiply, parseRate, rateFromPpm } from "./rate.ts";

const amount = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }).map(usd);
const rate = fc.bigInt({ min: 0n, max: 10_000_000n }).map(rateFromPpm);

test("a rate has exactly six decimals", () => {
  const texts = ["0.3", "0.30", "0.300000", "1", "0", "0.000001", "12.5"];
  expect(texts.map((text) => parseRate(text)?.ppm)).toEqual([
    300_000n,
    300_000n,
    300_000n,
    1_000_000n,
    0n,
    1n,
    12_500_000n,
  ]);
  expect(formatRate(rateFromPpm(300_000n))).toBe("0.300000");
  expect(formatRate(rateFromPpm(-1n))).toBe("-0.000001");
});

test("invalid text is not parsed as a rate", () => {
  for (const text of ["", "0.3000000", "-0.3", "30%", ".3", "1e-1", " 0.3", "0,3", "1234567890"]) {
    expect(parseRate(text)).toBeUndefined();
  }
});

test("a formatted rate is parsed to the same rate", () => {
  fc.assert(
    fc.property(rate, (value) => {
      expect(parseRate(formatRate(value))).toEqual(value);
    }),
  );
});

test("down rounds towards zero; half-even rounds to the nearest cent, and a half to the even cent", () => {
  const tenth = rateFromPpm(100_000n);
  const minors = [14n, 15n, 16n, 25n, 35n, -14n, -15n, -16n, -25n, -35n];
  expect(minors.map((minor) => multiply(usd(minor), tenth, "down").minor)).toEqual([
    1n,
    1n,
    1n,
    2n,
    3n,
    -1n,
    -1n,
    -1n,
    -2n,
    -3n,
  ]);
  expect(minors.map((minor) => multiply(usd(minor), tenth, "half-even").minor)).toEqual([
    1n,
    2n,
    2n,
    2n,
    4n,
    -1n,
    -2n,
    -2n,
    -2n,
    -4n,
  ]);
});

test("shares of 0 and 1 are exact", () => {
  fc.assert(
    fc.property(amount, fc.constantFrom("down" as const, "half-even" as const), (value, rounding) => {
      expect(multiply(value, rateFromPpm(1_000_000n), rounding)).toEqual(value);
      expect(multiply(value, rateFromPpm(0n), rounding)).toEqual(usd(0n));
    }),
  );
});

test("the share of a negated amount is the negated share", () => {
  fc.assert(
    fc.property(amount, rate, fc.constantFrom("down" as const, "half-even" as const), (value, share, rounding) => {
      expect(multiply(negate(value), share, rounding)).toEqual(negate(multiply(value, share, rounding)));
    }),
  );
});

test("rounding down differs from the exact share by less than a cent, towards zero", () => {
  fc.assert(
    fc.property(amount, rate, (value, share) => {
      const exact = value.minor * share.ppm;
      const rest = exact - multiply(value, share, "down").minor * 1_000_000n;
      expect(rest > -1_000_000n && rest < 1_000_000n).toBe(true);
      expect(rest === 0n || rest > 0n === exact > 0n).toBe(true);
    }),
  );
});

test("half-even differs from the exact share by at most half a cent", () => {
  fc.assert(
    fc.property(amount, rate, (value, share) => {
      const rest = value.minor * share.ppm - multiply(value, share, "half-even").minor * 1_000_000n;
      expect(rest >= -500_000n && rest <= 500_000n).toBe(true);
    }),
  );
});
