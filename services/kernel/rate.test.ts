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

test("what is no rate is not read", () => {
  for (const text of ["", "0.3000000", "-0.3", "30%", ".3", "1e-1", " 0.3", "0,3", "1234567890"]) {
    expect(parseRate(text)).toBeUndefined();
  }
});

test("what is written is read back", () => {
  fc.assert(
    fc.property(rate, (given) => {
      expect(parseRate(formatRate(given))).toEqual(given);
    }),
  );
});

test("down cuts towards zero, half-even goes to the nearest cent and from the middle to the even one", () => {
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

test("nothing and everything are exact", () => {
  fc.assert(
    fc.property(amount, fc.constantFrom("down" as const, "half-even" as const), (given, rounding) => {
      expect(multiply(given, rateFromPpm(1_000_000n), rounding)).toEqual(given);
      expect(multiply(given, rateFromPpm(0n), rounding)).toEqual(usd(0n));
    }),
  );
});

test("a share of the opposite is the opposite of the share", () => {
  fc.assert(
    fc.property(amount, rate, fc.constantFrom("down" as const, "half-even" as const), (given, share, rounding) => {
      expect(multiply(negate(given), share, rounding)).toEqual(negate(multiply(given, share, rounding)));
    }),
  );
});

test("rounding down never gives more than the exact share and less than a cent too little", () => {
  fc.assert(
    fc.property(amount, rate, (given, share) => {
      const exact = given.minor * share.ppm;
      const rest = exact - multiply(given, share, "down").minor * 1_000_000n;
      expect(rest > -1_000_000n && rest < 1_000_000n).toBe(true);
      expect(rest === 0n || rest > 0n === exact > 0n).toBe(true);
    }),
  );
});

test("half-even is never further than half a cent from the exact share", () => {
  fc.assert(
    fc.property(amount, rate, (given, share) => {
      const rest = given.minor * share.ppm - multiply(given, share, "half-even").minor * 1_000_000n;
      expect(rest >= -500_000n && rest <= 500_000n).toBe(true);
    }),
  );
});
