import { expect, test } from "vitest";
import { calendarOf, daysOf, UTC } from "./time-zone.ts";

const athens = calendarOf("Europe/Athens");
const newYork = calendarOf("America/New_York+07:00");
const at = (text: string) => new Date(text);
const instant = (calendar: typeof athens, shown: string) => calendar.toInstant(at(`${shown}Z`)).toISOString();

test("the last half hour of January in UTC is February on a server that is two hours ahead", () => {
  const late = at("2026-01-31T23:30:00Z");
  expect([UTC.dayOf(late), athens.dayOf(late), newYork.dayOf(late)]).toEqual([
    "2026-01-31",
    "2026-02-01",
    "2026-02-01",
  ]);
});

test("days begin with the offset of their own season, and those of a change have 23 and 25 hours", () => {
  expect(instant(athens, "2026-01-01T00:00:00")).toBe("2025-12-31T22:00:00.000Z");
  expect(instant(athens, "2026-07-01T00:00:00")).toBe("2026-06-30T21:00:00.000Z");
  const hours = (from: string, to: string) =>
    (athens.toInstant(at(`${to}T00:00:00Z`)).getTime() - athens.toInstant(at(`${from}T00:00:00Z`)).getTime()) /
    3_600_000;
  expect([
    hours("2026-03-29", "2026-03-30"),
    hours("2026-10-25", "2026-10-26"),
    hours("2026-10-26", "2026-10-27"),
  ]).toEqual([23, 25, 24]);
  // The clocks of America change three weeks before those of Europe.
  expect([athens.dayOf(at("2026-03-20T21:30:00Z")), newYork.dayOf(at("2026-03-20T21:30:00Z"))]).toEqual([
    "2026-03-20",
    "2026-03-21",
  ]);
});

test("of a repeated hour the first instant is taken, and a skipped one is read with the offset before", () => {
  expect(instant(athens, "2026-10-25T03:30:00")).toBe("2026-10-25T00:30:00.000Z");
  expect(instant(athens, "2026-03-29T03:30:00")).toBe("2026-03-29T01:30:00.000Z");
  expect(instant(UTC, "2026-03-29T03:30:00")).toBe("2026-03-29T03:30:00.000Z");
});

test("the days of a period follow each other without a gap, through a change of daylight saving", () => {
  const period = [at("2026-10-23T21:00:00Z"), at("2026-10-26T12:00:00Z")] as const;
  expect(daysOf(athens, ...period).map(({ day, from, to }) => [day, from.toISOString(), to.toISOString()])).toEqual([
    ["2026-10-24", "2026-10-23T21:00:00.000Z", "2026-10-24T21:00:00.000Z"],
    ["2026-10-25", "2026-10-24T21:00:00.000Z", "2026-10-25T22:00:00.000Z"],
    ["2026-10-26", "2026-10-25T22:00:00.000Z", "2026-10-26T12:00:00.000Z"],
  ]);
  expect(daysOf(UTC, at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"))).toEqual([]);
});
