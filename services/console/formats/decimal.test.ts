import { expect, test } from "vitest";
import {
  addDecimals,
  compareDecimals,
  formatRatio,
  growthOf,
  partOf,
  positionOf,
  ratioOf,
  subtractDecimals,
} from "./decimal.ts";

test("sums and differences keep every digit", () => {
  expect(addDecimals(["0.1", "0.2", "-0.30000000000001"])).toBe("-0.00000000000001");
  expect(addDecimals([])).toBe("0.00");
  expect(addDecimals(["0.1", null, "0.2"])).toBe("0.30");
  expect(subtractDecimals("90071992547409931.07", "0.01")).toBe("90071992547409931.06");
  expect(subtractDecimals("115.87675", "0.00675")).toBe("115.87");
});

test("decimals are compared by value", () => {
  expect(["10", "9.99", "-1", "9.990"].toSorted(compareDecimals)).toEqual(["-1", "9.99", "9.990", "10"]);
});

test("a part of a result is exact to the decimals that are asked for", () => {
  expect(partOf("600", "1000", "6000", 4)).toBe("100.00");
  expect(partOf("100.00", "1", "3", 6)).toBe("33.333333");
  expect(partOf("-100.00", "1", "3", 6)).toBe("-33.333333");
  expect(partOf("1", "1", "0", 6)).toBeUndefined();
});

test("shares and growth are ratios", () => {
  expect(ratioOf("1", "4")).toBe("0.25");
  expect(ratioOf("1", "0")).toBeUndefined();
  expect(growthOf("1", "1.45")).toBe("0.45");
  expect(growthOf("2", "1")).toBe("-0.50");
  expect(growthOf("0", "1")).toBeUndefined();
});

test.each([
  ["0.0123", "1.23 %"],
  ["0.45", "45 %"],
  ["1", "100 %"],
  ["12.5", "1250 %"],
  ["-0.000001", "−0.0001 %"],
  ["-0.00", "0 %"],
  ["0.300000", "30 %"],
  ["none", "none"],
])("the ratio %s is shown as %s", (ratio, shown) => {
  expect(formatRatio(ratio)).toBe(shown);
});

test("ratios of a column have the same decimals", () => {
  expect(["0.126", "0.1355", "1", "-0.00"].map((ratio) => formatRatio(ratio, 2))).toEqual([
    "12.60 %",
    "13.55 %",
    "100.00 %",
    "0.00 %",
  ]);
});

test("what is no number has no position", () => {
  expect([positionOf("-1.5"), positionOf(null), positionOf("x")]).toEqual([-1.5, null, null]);
});
