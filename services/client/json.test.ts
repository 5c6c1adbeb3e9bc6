import { expect, test } from "vitest";
import { readJson, writeJson } from "./json.ts";
import { fromMinor, toMinor } from "./money.ts";

test("numbers keep every digit, as their form says", () => {
  const form = { deal_id: "int64", amount: "decimal", items: { id: "int64" }, evidence: { "*": "decimal" } } as const;
  const text = `{"deal_id":9007199254740993,"amount":0.10,"items":[{"id":1},{"id":null}],"count":3,"evidence":{"a":1e2}}`;

  expect(readJson(text, form)).toEqual({
    deal_id: 9_007_199_254_740_993n,
    amount: "0.10",
    items: [{ id: 1n }, { id: null }],
    count: 3,
    evidence: { a: "1e2" },
  });
});

test("a member without a form loses no digit of an integer", () => {
  expect(readJson("[9007199254740993, 12, -0.5, true, null]", undefined)).toEqual([
    9_007_199_254_740_993n,
    12,
    -0.5,
    true,
    null,
  ]);
});

test("text that looks like a number, a mark or an escape stays as it is", () => {
  const value = { n1: 'n1 "2" \\', t: ["t", "-1.5", '\\"3', "\u0000"], "": "{1}", __proto__x: "x" };

  expect(readJson(JSON.stringify(value), undefined)).toEqual(value);
  expect(readJson('"\\u006e12"', undefined)).toBe("n12");
});

test.each(["", "{", '{"a":1', "1.2.3", "01", '{"a" 1}', "<html>"])("%s is not JSON", (text) => {
  expect(() => readJson(text, undefined)).toThrow(SyntaxError);
});

test("a body is written with the digits of its decimals", () => {
  const form = { min_deposit: "decimal", perf_fee: { rate: "decimal" } } as const;
  const body = {
    min_deposit: "100.10",
    perf_fee: { rate: "0.3", enabled: true },
    id: 2n ** 60n,
    name: "1.5",
    no: undefined,
  };

  expect(writeJson(body, form)).toBe(
    '{"min_deposit":100.10,"perf_fee":{"rate":0.3,"enabled":true},"id":1152921504606846976,"name":"1.5"}',
  );
  expect(() => writeJson({ min_deposit: "1,5" }, form)).toThrow('"1,5" is not a decimal number');
});

test.each([
  ["250.5", 25_050n, "250.50"],
  ["250", 25_000n, "250.00"],
  ["-0.01", -1n, "-0.01"],
  ["0.00", 0n, "0.00"],
  ["90071992547409931.07", 9_007_199_254_740_993_107n, "90071992547409931.07"],
])("%s is %s cents, and back", (amount, minor, text) => {
  expect(toMinor(amount)).toBe(minor);
  expect(fromMinor(minor)).toBe(text);
});

test.each(["1.005", "", ".5", "1e3", "1.", "NaN", "1 000"])("%s is no amount", (amount) => {
  expect(() => toMinor(amount)).toThrow(RangeError);
});
