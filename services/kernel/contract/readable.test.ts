import { expect, test } from "vitest";
import { isReadable } from "./dispatch.ts";

test.each([
  ["texts and numbers", { name: "Ünïcode 🎉", id: 1n, limit: 10, flag: true, nothing: undefined }, true],
  ["an instant", { at: new Date("2026-01-02T03:04:05.678Z") }, true],
  ["bytes of any value", { bytes: new Uint8Array([0, 1, 2]) }, true],
  ["a NUL in a text", { comment: "a\0b" }, false],
  ["a NUL in a nested text", { items: [{ legs: [{ login: "1\0" }] }] }, false],
  ["an invalid instant", { at: new Date(Number.NaN) }, false],
  ["an instant before the first year", { at: new Date("-000001-01-01T00:00:00Z") }, false],
  ["an instant after the last year", { inner: { at: new Date("+010000-01-01T00:00:00Z") } }, false],
])("a message is readable when a database can store it: %s", (_case, message, expected) => {
  expect(isReadable(message)).toBe(expected);
});
