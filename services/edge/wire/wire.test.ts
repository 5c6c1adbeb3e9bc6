import fc from "fast-check";
import { expect, test } from "vitest";
import { cents } from "../api/samples/values.ts";
import { cursorsOf } from "./cursor.ts";
import { jsonInteger, jsonNumber, moneyNumber, moneyOf, moneyText } from "./number.ts";
import { nullableTimestamp, parseTimestamp, timestamp } from "./timestamp.ts";

test.each([
  [0n, "0", "0.00"],
  [1n, "0.01", "0.01"],
  [100_00n, "100", "100.00"],
  [100_50n, "100.5", "100.50"],
  [100_55n, "100.55", "100.55"],
  [-250_50n, "-250.5", "-250.50"],
  [1_000_00n, "1000", "1000.00"],
  [12_345_678_901_234_567_890_12n, "12345678901234567890.12", "12345678901234567890.12"],
])("%d cents are the number %s and the text %s", (minor, asNumber, asText) => {
  expect(JSON.stringify(moneyNumber(cents(minor)))).toBe(asNumber);
  expect(moneyText(cents(minor))).toBe(asText);
});

test("an amount of any size is equal after it was written and parsed", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (minor) => {
      expect(moneyOf(JSON.stringify(moneyNumber(cents(minor))))).toEqual(cents(minor));
    }),
  );
});

test("integers are written in full", () => {
  expect(JSON.stringify([jsonInteger(9_007_199_254_740_993n), jsonInteger(-1n)])).toBe("[9007199254740993,-1]");
});

test.each(["", "1.", ".5", "01", "1e5", "NaN", '"1"', "1,2"])("%s are not the digits of a number", (digits) => {
  expect(() => jsonNumber(digits)).toThrow(TypeError);
});

test("a timestamp is UTC with six decimals and no offset", () => {
  expect(timestamp(new Date("2026-01-02T03:04:05.678Z"))).toBe("2026-01-02T03:04:05.678000");
  expect(nullableTimestamp(undefined)).toBeNull();
});

test.each([
  ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"],
  ["2026-01-02T03:04", "2026-01-02T03:04:00.000Z"],
  ["2026-01-02T03:04:05.678901", "2026-01-02T03:04:05.678Z"],
  ["2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05.600Z"],
  ["2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000Z"],
  ["2026-01-02T03:04:05-0530", "2026-01-02T08:34:05.000Z"],
  ["2026-01-01T00:00:00+14:00", "2025-12-31T10:00:00.000Z"],
  ["2024-02-29T00:00:00z", "2024-02-29T00:00:00.000Z"],
  ["1970-01-01T02:00:00+02:00", "1970-01-01T00:00:00.000Z"],
  ["1969-12-31T22:00:00-02:00", "1970-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.9999", "9999-12-31T23:59:59.999Z"],
])("%s is parsed as %s", (text, instant) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(instant);
});

test("other texts are no date and time", () => {
  const dates = "2026-02-30T00:00:00 2025-02-29T00:00:00 2026-13-01T00:00:00 0000-01-02T03:04:05 10000-01-01T00:00:00";
  const times = "2026-01-02T24:00:00 2026-01-02T03:60:00 2026-01-02T03:04:60 2026-01-02T03:04:05. 2026-01-02 now";
  const zones = "2026-01-02T03:04:05+25:00 1970-01-01T01:59:59+02:00 9999-12-31T23:59:59-02:00";
  const edges = "1969-12-31T23:59:59.999 9999-12-31T23:59:59.999-00:01";
  const texts = [dates, times, zones, edges].flatMap((list) => list.split(" "));
  for (const text of [...texts, "2026-01-02 03:04:05", ""]) expect(parseTimestamp(text), text).toBeUndefined();
});

test("a timestamp that the edge wrote is parsed to the same instant", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date("1970-01-01"), max: new Date("9999-01-01"), noInvalidDate: true }), (date) => {
      expect(parseTimestamp(timestamp(date))).toEqual(date);
    }),
  );
});

test("a cursor is valid on its own list only", () => {
  const cursors = cursorsOf(Buffer.from("key")).number;
  const text = cursors.write("masters?engine=PAMM", 2n ** 62n);

  expect(cursors.read("masters?engine=PAMM", text)).toBe(2n ** 62n);
  expect(cursors.read("masters?engine=ALL", text)).toBeUndefined();
  expect(cursors.read("investors?engine=PAMM", text)).toBeUndefined();
  expect(cursorsOf(Buffer.from("other")).number.read("masters?engine=PAMM", text)).toBeUndefined();
});

test("a cursor with any changed character is refused", () => {
  const cursors = cursorsOf(Buffer.from("key")).number;
  const text = cursors.write("masters", 41n);

  for (let index = 0; index < text.length; index += 1) {
    const other = text[index] === "A" ? "B" : "A";
    expect(cursors.read("masters", text.slice(0, index) + other + text.slice(index + 1))).toBeUndefined();
  }
  for (const invalid of ["", text.slice(1), `${text}A`, "41", "=".repeat(24)]) {
    expect(cursors.read("masters", invalid)).toBeUndefined();
  }
});
