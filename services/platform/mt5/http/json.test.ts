import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonValue, readJson, valuesNamed } from "./json.ts";

/** The value as JSON.parse returns it, for comparison; only for documents without repeated names. */
function plain(value: JsonValue | undefined): unknown {
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([name, [first]]) => [name, plain(first)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

test("a document is read as JSON.parse reads it, but numbers stay text and names are in lower case", () => {
  const text =
    ' { "Retcode" : "0 Done", "answer": [ {"Ticket": 18446744073709551615, "a\\u00e9\\n": -1.50e3}, [], {}, null, true, false ] } ';
  expect(plain(readJson(text))).toEqual({
    retcode: "0 Done",
    answer: [{ ticket: "18446744073709551615", "aé\n": "-1.50e3" }, [], {}, null, true, false],
  });
});

test("two members of one name are both kept in their order, also when only their case differs", () => {
  const document = readJson('{"Ticket":"1","a":{"ticket":2},"TICKET":"3"}');
  expect(document instanceof Map && document.get("ticket")).toEqual(["1", "3"]);
  expect(valuesNamed(document ?? null, "ticket")).toEqual(["1", "3", "2"]);
});

test("only ASCII letters are folded, so no other name matches an expected one", () => {
  const document = readJson('{"tic\u212Aet":"1"}');
  expect(valuesNamed(document ?? null, "ticket")).toEqual([]);
});

test("nesting is limited, so no answer can exhaust the stack", () => {
  expect(readJson("[".repeat(100_000))).toBeUndefined();
  expect(readJson("[".repeat(33) + "]".repeat(33))).toEqual(expect.any(Array));
  expect(readJson("[".repeat(34) + "]".repeat(34))).toBeUndefined();
});

test("the parser accepts exactly the texts that JSON.parse accepts and never throws", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc
      .json()
      .chain((text) =>
        fc.tuple(fc.constant(text), fc.nat(text.length), fc.constantFrom("", '"', "{", ",", "\\", "0", "\u0001")),
      )
      .map(([text, at, inserted]) => text.slice(0, at) + inserted + text.slice(at + 1)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(readJson(text) !== undefined).toBe(isJson(text));
    }),
    { numRuns: 500 },
  );
});

test("strings are decoded as by JSON.parse", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(readJson(JSON.stringify(text))).toBe(text);
    }),
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
