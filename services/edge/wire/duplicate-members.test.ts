import fc from "fast-check";
import { expect, test } from "vitest";
import { duplicateMembers } from "./duplicate-members.ts";

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
