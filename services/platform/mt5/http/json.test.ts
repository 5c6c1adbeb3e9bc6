import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonValue, readJson, valuesNamed } from "./json.ts";

/** As JSON.parse would give it, to compare with; meaningful where no name is doubled. */
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

test("two members of one name both survive, in their order, also when only their case differs", () => {
  const document = readJson('{"Ticket":"1","a":{"ticket":2},"TICKET":"3"}');
  expect(document instanceof Map && document.get("ticket")).toEqual(["1", "3"]);
  expect(valuesNamed(document ?? null, "ticket")).toEqual(["1", "3", "2"]);
});

test("letters beyond ASCII are not folded, so no other name can pass for one of ours", () => {
  const document = readJson('{"tic\u212Aet":"1"}');
  expect(valuesNamed(document ?? null, "ticket")).toEqual([]);
});

test("what is not exactly one JSON value is not read", () => {
  const malformed = [
    "",
    " ",
    "{",
    "}",
    "{}{}",
    "[1,]",
    "[,1]",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{a:1}",
    "{'a':1}",
    "01",
    "1.",
    ".5",
    "+1",
    "--1",
    "1e",
    "NaN",
    "Infinity",
    "undefined",
    "tru",
    "nul",
    '"',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    '"a',
    "[1 2]",
    "<html></html>",
    '{"a":1} x',
    "\uFEFFx",
  ];
  for (const text of malformed) expect(readJson(text), text).toBeUndefined();
});

test("nesting is bounded, so a hostile answer cannot exhaust the stack", () => {
  expect(readJson("[".repeat(100_000))).toBeUndefined();
  expect(readJson("[".repeat(33) + "]".repeat(33))).toEqual(expect.any(Array));
  expect(readJson("[".repeat(34) + "]".repeat(34))).toBeUndefined();
});

test("it accepts exactly what JSON.parse accepts, and never throws", () => {
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

test("strings mean what JSON.parse says they mean", () => {
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
