import { expect, test } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const DAY_MS = 86_400_000;

test.each([
  ["120", 120_000],
  [" 120 ", 120_000],
  ["Fri, 02 Jan 2026 03:06:05 GMT", 120_000],
  ["Friday, 02-Jan-26 03:06:05 GMT", 120_000],
  ["Fri Jan  2 03:06:05 2026", 120_000],
  // It is not asked again at once.
  ["0", 5_000],
  ["Fri, 02 Jan 2026 03:04:05 GMT", 5_000],
  ["Mon, 01 Jan 1990 00:00:00 GMT", 5_000],
  ["86400", DAY_MS],
  ["86401", DAY_MS],
  ["9".repeat(400), DAY_MS],
  ["Fri, 31 Dec 9999 23:59:59 GMT", DAY_MS],
])("Retry-After %j is a wait of %i ms", (text, ms) => {
  expect(readRetryAfter(text, NOW)).toBe(ms);
});

test.each([
  undefined,
  "",
  "soon",
  "-1",
  "-120",
  "+120",
  "1.5",
  "1e3",
  "0x10",
  "120 s",
  "120, 240",
  "٣",
  "2026-01-02T03:06:05Z",
  "Fri, 02 Foo 2026 03:06:05 GMT",
  "Fri, 02 Jan 2026 03:06:05",
])("%j is no Retry-After", (text) => {
  expect(readRetryAfter(text, NOW)).toBeUndefined();
});
