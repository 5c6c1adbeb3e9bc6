import fc from "fast-check";
import { expect, test } from "vitest";
import { decimalText, duplicateMembers, parseJson } from "./json-body.ts";

function parse(text: string): object {
  return parseJson(Buffer.from(text))?.value as object;
}

test("a number keeps the digits it was written with", () => {
  const body = parse('{"rate": 0.1000000000000000055, "min_deposit": 100.50, "nested": {"rate": 0.30}}');

  expect(decimalText(body, "rate")).toBe("0.1000000000000000055");
  expect(decimalText(body, "min_deposit")).toBe("100.50");
  expect(decimalText((body as { nested: object }).nested, "rate")).toBe("0.30");
});

test("a number with an exponent is read as its decimal, unless it is beyond all of them", () => {
  const written = ["3e-1", "1E0", "12.345e1", "-2.5e-1", "1e400"].map((n) => decimalText(parse(`{"n": ${n}}`), "n"));
  expect(written).toEqual(["0.3", "1", "123.45", "-0.25", "1e400"]);
});

test("a decimal is read from a number or text, and from nothing else", () => {
  const body = parse('{"text": "0.30", "yes": true, "none": null, "list": [1]}');

  expect(["text", "yes", "none", "list", "missing"].map((name) => decimalText(body, name))).toEqual([
    "0.30",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("__proto__ is an ordinary member and changes no prototype", () => {
  const body = parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}');

  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  expect((body as { polluted?: boolean }).polluted).toBeUndefined();
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("text that is not JSON, or not UTF-8, is not parsed", () => {
  expect(parse('\uFEFF{"a": 1}')).toEqual({ a: 1 });
  for (const text of ["{", "", "NaN", "{'a': 1}", "{}{}", "\uFEFF\uFEFF{}", "{\uFEFF}", "[".repeat(60_000)]) {
    expect(parseJson(Buffer.from(text)), text.slice(0, 10)).toBeUndefined();
  }
  expect(parseJson(Buffer.from([0x22, 0xff, 0x22]))).toBeUndefined();
});

test.each([
  ['{"amount": 1, "amount": 2}', ["amount"]],
  ['{"amount": 1, "\\u0061mount": 2, "amount": 3}', ["amount"]],
  ['{"a": {"b": 1, "b": 2}, "a": {}}', ["a.b", "a"]],
  ['{"list": [{"x": 1}, {"x": 1, "x": {"x": 0}}]}', ["list.1.x"]],
  ['[{"x": 1, "x": 1}]', ["0.x"]],
  ['{"__proto__": 1, "__proto__": 2}', ["__proto__"]],
  ['{"a": "b", "b": "a", "c": "\\"a\\":", "d": "{,}[]"}', []],
  ['{"a": {"a": {"a": 1}}, "b": [["a", "a"]]}', []],
  ['"a"', []],
  ["5", []],
  ["[]", []],
])("of %s the duplicates are %j", (json, names) => {
  expect(duplicateMembers(json)).toEqual(names);
});

test("text that was written from a value has no duplicates, however it is spaced", () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(objects, fc.constantFrom(0, 2), (value, space) => {
      expect(duplicateMembers(JSON.stringify(value, null, space))).toEqual([]);
    }),
  );
});
