import fc from "fast-check";
import { expect, test } from "vitest";
import { formatRate, parseRate, rateFromPpm } from "./rate.ts";

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
