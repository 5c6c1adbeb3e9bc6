import { expect, test } from "vitest";
import { isTimeZone, wallClockMs, zoneOffset } from "./server-time.ts";

test.each([
  ["Europe/Athens", "2026-01-15T10:00:00Z", 120],
  ["Europe/Athens", "2026-07-15T10:00:00Z", 180],
  ["Europe/Athens", "2026-03-29T00:59:59Z", 120],
  ["Europe/Athens", "2026-03-29T01:00:00Z", 180],
  ["Europe/Athens", "2026-10-25T00:59:59Z", 180],
  ["Europe/Athens", "2026-10-25T01:00:00Z", 120],
  ["UTC", "2026-07-15T10:00:00Z", 0],
  ["America/St_Johns", "2026-01-15T10:00:00Z", -210],
  ["America/New_York+07:00", "2026-03-08T06:59:59Z", 120],
  ["America/New_York+07:00", "2026-03-08T07:00:00Z", 180],
  ["Asia/Kathmandu", "2026-01-15T10:00:00Z", 345],
])("%s at %s is %d minutes ahead", (zone, instant, minutes) => {
  const offset = zoneOffset(zone);
  const utcMs = Date.parse(instant);
  expect(offset(utcMs)).toBe(minutes);
  expect(wallClockMs(utcMs, offset)).toBe(utcMs + minutes * 60_000);
});

test("conversions to and from server time around a clock change are consistent", () => {
  const offset = zoneOffset("Europe/Athens");
  const change = Date.parse("2026-03-29T01:00:00Z");
  expect([change - 1, change, change - 1, change].map(offset)).toEqual([120, 180, 120, 180]);
});

test("unknown time zones are refused", () => {
  expect(["Europe/Athens", "UTC", "Mars/Olympus", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});
