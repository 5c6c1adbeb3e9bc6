import fc from "fast-check";
import { expect, test } from "vitest";
import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { MAX_ATTEMPTS } from "./leg-machine.ts";
import { LAST_LEG_NUMBER, numberFloor, legNumber } from "./leg-number.ts";
import { foldText, formatReference, platformComment, readReference, type Reference } from "./reference.ts";

const kinds = fc.constantFrom(...(Object.keys(LEG_KINDS) as LegKind[]));
const numbers = fc.bigInt({ min: 0n, max: LAST_LEG_NUMBER });
const references: fc.Arbitrary<Reference> = fc.record({
  kind: kinds,
  number: numbers.map((value) => legNumber(value)),
  attempt: fc.integer({ min: 1, max: MAX_ATTEMPTS }),
});
const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

test("the format of a reference never changes, because deals of open legs have the old format", () => {
  const number = legNumber(16_753_715_633_245n);
  expect(formatReference({ kind: "deposit", number, attempt: 1 })).toBe("PD0F7K3M9Q2X1X");
  expect(readReference("PD0F7K3M9Q2X1X CRM-2026-0001")).toEqual({ kind: "deposit", number, attempt: 1 });
  expect(formatReference({ kind: "exit", number: legNumber(LAST_LEG_NUMBER), attempt: 31 })).toMatch(
    /^PXZZZZZZZZZZZ[0-9A-Z]$/,
  );
});

test("every kind has a unique letter, in the order D W F C T M X R", () => {
  expect(Object.values(LEG_KINDS).map(({ letter }) => letter)).toEqual(["D", "W", "F", "C", "T", "M", "X", "R"]);
});

test("a formatted reference is read back, also when the broker appends text or cuts the rest", () => {
  fc.assert(
    fc.property(references, fc.string({ unit: "binary" }), (reference, tail) => {
      const text = formatReference(reference);
      expect(text).toHaveLength(14);
      expect(readReference(text + tail)).toEqual(reference);
      expect(readReference(platformComment(reference, tail))).toEqual(reference);
    }),
  );
});

test("a reference with a wrong character or without its end is invalid", () => {
  fc.assert(
    fc.property(references, fc.nat(13), fc.constantFrom(...ALPHANUMERIC), (reference, index, character) => {
      const text = formatReference(reference);
      const wrong = text.slice(0, index) + character + text.slice(index + 1);
      if (wrong !== text) expect(readReference(wrong)).toBeUndefined();
      expect(readReference(text.slice(0, index))).toBeUndefined();
    }),
  );
});

test("a comment of another origin is not taken for a reference", () => {
  for (const comment of ["", "API Deposit", "CRM-2026-0001", "PAMM", "P", "pd0f7k3m9q2x1x", " PD0F7K3M9Q2X1X"]) {
    expect(readReference(comment)).toBeUndefined();
  }
});

test("a reference with attempt 0 is invalid", () => {
  for (const check of ALPHANUMERIC) expect(readReference(`PD00000000010${check}`)).toBeUndefined();
});

test("the comment never exceeds what the platform keeps and needs no escaping", () => {
  fc.assert(
    fc.property(references, fc.string({ unit: "binary", maxLength: 300 }), (reference, text) => {
      const comment = platformComment(reference, text);
      expect(comment.length).toBeLessThanOrEqual(31);
      expect(comment).toMatch(/^[A-Za-z0-9 _.:#@!-]+$/);
      expect(comment).toBe(comment.trim());
    }),
  );
});

test("accents are removed, other characters are replaced, and the caller's text is cut to 16 characters", () => {
  expect(foldText("Überweisung Łódź")).toBe("Uberweisung Lodz");
  expect(foldText("Straße")).toBe("Strasse");
  expect(foldText("a=b|c\\d&e+f%")).toBe("a_b_c_d_e_f_");
  expect(foldText("  CRM-2026-0001-and-more ")).toBe("CRM-2026-0001-an");
  expect(foldText("Перевод")).toBe("_______");
});

test("an attempt or a number that does not fit into a reference throws", () => {
  const number = legNumber(1n);
  for (const attempt of [0, 32, 1.5]) {
    expect(() => formatReference({ kind: "mirror", number, attempt })).toThrow(RangeError);
  }
  expect(() => legNumber(LAST_LEG_NUMBER + 1n)).toThrow(RangeError);
  expect(() => legNumber(-1n)).toThrow(RangeError);
});

test("the floor of the numbers grows with the clock by 512 each millisecond since 2025", () => {
  expect(numberFloor(Date.UTC(2025, 0, 1))).toBe(0n);
  expect(numberFloor(Date.UTC(2025, 0, 1, 0, 0, 1))).toBe(512_000n);
  expect(numberFloor(Date.UTC(2094, 0, 1))).toBeLessThan(LAST_LEG_NUMBER);
});
