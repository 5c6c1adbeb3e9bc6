import { expect, test } from "vitest";
import { encodeQuery, encodeValue, readEnvelope } from "./codec.ts";

const envelopeOf = (text: string) => readEnvelope(Buffer.from(text, "utf8"));

test("a value gets the platform's escapes first and then percent-encoding", () => {
  expect(encodeValue(String.raw`pamm\master`)).toBe("pamm%5C%5Cmaster");
  expect(encodeValue("a=b|c\nd")).toBe("a%5C%3Db%5C%7Cc%5C%0Ad");
  expect(encodeValue("a b+c&d%e#f?g/h")).toBe("a%20b%2Bc%26d%25e%23f%3Fg%2Fh");
  expect(encodeValue("!'()*")).toBe("%21%27%28%29%2A");
  expect(encodeValue("Перевод é")).toBe("%D0%9F%D0%B5%D1%80%D0%B5%D0%B2%D0%BE%D0%B4%20%C3%A9");
  expect(encodeValue("\uD800")).toBe("%EF%BF%BD");
  expect(encodeQuery({ login: "1", comment: "a b" })).toBe("login=1&comment=a%20b");
});

test("an answer has a return code with a text and an optional answer member", () => {
  expect(envelopeOf('{"retcode":"0 Done","answer":{"Ticket":"5"}}')).toMatchObject({
    kind: "read",
    envelope: { code: 0, text: "Done", answer: new Map([["ticket", ["5"]]]) },
  });
  expect(envelopeOf('{"RetCode":"10019 Not enough money"}')).toMatchObject({
    kind: "read",
    envelope: { code: 10019, answer: undefined },
  });
});

test("a return code that is not a plain number with a text is contradictory", () => {
  for (const retcode of [
    '"0"',
    '"0 "',
    '"00 Done"',
    '"-1 Done"',
    '"+0 Done"',
    '" 0 Done"',
    '"0x0 Done"',
    '"Done"',
    '"0\\tDone"',
    "0",
    "null",
    '["0 Done"]',
    '"1e3 Done"',
    '"9999999999 Done"',
  ]) {
    expect(envelopeOf(`{"retcode":${retcode}}`), retcode).toEqual({ kind: "contradictory" });
  }
  expect(envelopeOf("{}")).toEqual({ kind: "contradictory" });
});

test("two return codes or two answers are contradictory unless they are equal", () => {
  expect(envelopeOf('{"retcode":"0 Done","retcode":"3 Invalid parameters"}')).toEqual({ kind: "contradictory" });
  expect(envelopeOf('{"retcode":"0 Done","Retcode":"10019 No money"}')).toEqual({ kind: "contradictory" });
  expect(envelopeOf('{"retcode":"0 Done","answer":{},"answer":{}}')).toEqual({ kind: "contradictory" });
  expect(envelopeOf('{"retcode":"0 Done","retcode":"0 Done"}')).toMatchObject({ kind: "read" });
});

test("a body that is not a JSON object in UTF-8 is unparsable", () => {
  for (const text of ["", "<html>403</html>", "[]", '"0 Done"', "0 Done", '{"retcode":"0 Done"']) {
    expect(envelopeOf(text), text).toEqual({ kind: "unparsable" });
  }
  expect(readEnvelope(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).toEqual({ kind: "unparsable" });
});
