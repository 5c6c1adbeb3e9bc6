import { expect, test } from "vitest";
import { csvOf, tsvOf } from "./delimited.ts";
import { formatAmount, grossOf, isNegative } from "./decimal.ts";
import { durationText, instantOf, utcText } from "./time.ts";
import { sentence, words } from "./words.ts";

test.each([
  ["0", "0.00"],
  ["1234.5", "1,234.50"],
  ["-1234567.89", "−1,234,567.89"],
  ["-0.00", "0.00"],
  ["123456789012345678901234567890.12", "123,456,789,012,345,678,901,234,567,890.12"],
  ["not an amount", "not an amount"],
])("the amount %s is shown as %s, with every digit", (amount, shown) => {
  expect(formatAmount(amount)).toBe(shown);
});

test("zero is not negative, and a gross sum has no signs", () => {
  expect(grossOf(["-0.10", "0.20"])).toBe("0.30");
  expect([isNegative("-0.00"), isNegative("-0.01")]).toEqual([false, true]);
});

test("a text that a spreadsheet would take for a formula is text in a file and on the clipboard, and numbers stay numbers", () => {
  const rows = [
    ["=1+1", "@cmd", "+1 2", "-1.50", "\t=1", 'a "b", c'],
    ["＝1", "two\nlines", "", "7", "-", "1"],
  ];
  expect(csvOf(rows)).toBe(`﻿'=1+1,'@cmd,'+1 2,-1.50,'\t=1,"a ""b"", c"\r\n'＝1,"two\nlines",,7,'-,1\r\n`);
  expect(tsvOf(rows)).toBe(`'=1+1\t'@cmd\t'+1 2\t-1.50\t' =1\ta "b", c\n'＝1\ttwo lines\t\t7\t'-\t1`);
});

test("times of the API are UTC, and durations have two units", () => {
  expect(instantOf("2026-01-31T12:00:00.000000").toISOString()).toBe("2026-01-31T12:00:00.000Z");
  expect(utcText("2026-01-31T12:00:01.500000")).toBe("2026-01-31 12:00:01");
  expect([-5, 59_999, 60_000, 3_660_000, 90_000_000].map(durationText)).toEqual([
    "0 s",
    "59 s",
    "1 min",
    "1 h 1 min",
    "1 d 1 h",
  ]);
});

test("codes become words, and terms keep their capitals", () => {
  expect([words("external_funds_on_master"), sentence("not_executed")]).toEqual([
    "external funds on Master",
    "Not executed",
  ]);
});
