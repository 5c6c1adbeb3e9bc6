import fc from "fast-check";
import { expect, test } from "vitest";
import { Mt5Error } from "./errors.ts";
import { zoneClock, zoneTime } from "./server-clock.ts";

const athens = zoneClock("Europe/Athens");
const HOUR = 3_600_000;
const MINUTE = 60_000;

test("the wall clock of a zone is two hours ahead in winter and three in summer", () => {
  const winter = Date.UTC(2026, 0, 15, 10);
  const summer = Date.UTC(2026, 6, 15, 10);
  expect(athens.toServerMs(winter)).toBe(winter + 2 * HOUR);
  expect(athens.toServerMs(summer)).toBe(summer + 3 * HOUR);
  expect(athens.toUtcMs(winter + 2 * HOUR)).toBe(winter);
  expect(athens.toUtcMs(summer + 3 * HOUR)).toBe(summer);
  expect(zoneClock("America/New_York").offsetMinutes(winter)).toBe(-300);
  expect(zoneClock("Asia/Kathmandu").offsetMinutes(winter)).toBe(345);
  expect(zoneClock("UTC").toServerMs(winter)).toBe(winter);
});

test("a time in the repeated hour is the latest instant that has come, and one in the skipped hour is the change", () => {
  const autumn = Date.UTC(2026, 9, 25, 1);
  const half = Date.UTC(2026, 9, 25, 3, 30);
  const readAt = (utcMs: number) => zoneClock("Europe/Athens", () => new Date(utcMs)).toUtcMs(half);
  expect(readAt(autumn - HOUR / 2)).toBe(autumn - HOUR / 2);
  expect(readAt(autumn + HOUR / 3)).toBe(autumn - HOUR / 2);
  expect(readAt(autumn + HOUR / 2)).toBe(autumn + HOUR / 2);
  expect(readAt(autumn + 24 * HOUR)).toBe(autumn + HOUR / 2);
  expect(athens.toUtcMs(Date.UTC(2026, 2, 29, 3, 30))).toBe(Date.UTC(2026, 2, 29, 1));
});

test("a clock that is ahead of a zone changes when the zone does", () => {
  const closesInNewYork = zoneClock("America/New_York+07:00");
  const offsets = ["2026-03-08T06:59", "2026-03-08T07:00", "2026-11-01T05:59", "2026-11-01T06:00"].map((text) =>
    closesInNewYork.offsetMinutes(Date.parse(`${text}Z`)),
  );
  expect(offsets).toEqual([120, 180, 180, 120]);
  expect(zoneClock("Asia/Kathmandu-05:45").offsetMinutes(0)).toBe(-15);
});

test("an instant is converted to server time and back, or to the other one of the repeated hour", () => {
  const zones = ["Europe/Athens", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"].map((zone) =>
    zoneClock(zone, () => new Date(Date.UTC(2040, 0))),
  );
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: Date.UTC(2020), max: Date.UTC(2035) }), (clock, utcMs) => {
      const back = clock.toUtcMs(clock.toServerMs(utcMs));
      expect([utcMs, utcMs + HOUR, utcMs + HOUR / 2]).toContain(back);
      expect(clock.toServerMs(back)).toBe(clock.toServerMs(utcMs));
    }),
  );
});

/** Changes of daylight saving in 2026, and half an hour for which the clock of Lord Howe Island goes forward. */
const CHANGES: readonly (readonly [zone: string, changeMs: number])[] = [
  ["Europe/Athens", Date.UTC(2026, 2, 29, 1)],
  ["Europe/Athens", Date.UTC(2026, 9, 25, 1)],
  ["America/New_York+07:00", Date.UTC(2026, 2, 8, 7)],
  ["America/New_York+07:00", Date.UTC(2026, 10, 1, 6)],
  ["Australia/Lord_Howe", Date.UTC(2026, 9, 3, 15, 30)],
];
const aChange = fc.constantFrom(...CHANGES);
const nearly = fc.integer({ min: -3 * HOUR, max: 3 * HOUR });

test("a deal is in each period that has its instant", () => {
  fc.assert(
    fc.property(aChange, nearly, nearly, nearly, ([zone, changeMs], wall, from, to) => {
      const clock = zoneClock(zone, () => new Date(changeMs + 4 * HOUR));
      const serverMs = zoneClock(zone).toServerMs(changeMs) + wall;
      const utcMs = clock.toUtcMs(serverMs);
      const period = clock.serverPeriod(Math.min(utcMs, changeMs + from), Math.max(utcMs, changeMs + to));
      expect(serverMs).toBeGreaterThanOrEqual(period.fromMs);
      expect(serverMs).toBeLessThanOrEqual(period.toMs);
    }),
  );
});

test("a deal that is read within the hour has its own instant, also in the repeated hour", () => {
  fc.assert(
    fc.property(aChange, nearly, fc.integer({ min: 0, max: HOUR / 2 - 6 * MINUTE }), ([zone, changeMs], at, age) => {
      const utcMs = changeMs + at;
      const serverMs = zoneClock(zone).toServerMs(utcMs);
      expect(zoneClock(zone, () => new Date(utcMs + age)).toUtcMs(serverMs)).toBe(utcMs);
    }),
  );
});

test("the deals of a repeated hour are in the order of their tickets", () => {
  const { orderMs } = zoneClock("Europe/Athens");
  const first = [Date.UTC(2026, 9, 25, 3), Date.UTC(2026, 9, 25, 3, 59)].map(orderMs);
  expect(first).toEqual([Date.UTC(2026, 9, 25, 3), Date.UTC(2026, 9, 25, 3)]);
  const outside = [Date.UTC(2026, 9, 25, 2, 59), Date.UTC(2026, 9, 25, 4, 1), Date.UTC(2026, 2, 29, 3, 30)];
  expect(outside.map(orderMs)).toEqual(outside);
});

test("a zone that is right for most of the year is refused within a minute of the change that it lacks", async () => {
  const change = Date.UTC(2026, 2, 8, 7);
  let utcMs = change - HOUR;
  const time = zoneTime(
    "Europe/Athens",
    () => Promise.resolve(zoneClock("America/New_York+07:00").toServerMs(utcMs)),
    () => new Date(utcMs),
  );
  expect((await time()).offsetMinutes(utcMs)).toBe(120);
  utcMs = change - 1_000;
  await time();
  utcMs = change + MINUTE;
  await expect.poll(() => time().then(String, (error: Mt5Error) => error.problem)).toBe("clock_differs");
  utcMs = Date.UTC(2026, 2, 29, 2);
  expect((await time()).offsetMinutes(utcMs)).toBe(180);
});

test("an unknown zone name is refused at once", () => {
  expect(() =>
    zoneTime(
      "Europe/Nowhere",
      () => Promise.resolve(0),
      () => new Date(),
    ),
  ).toThrow(RangeError);
});

test("how far a clock differs is known: weeks end by the platform's clock", async () => {
  const now = new Date(Date.UTC(2026, 10, 21, 12));
  for (const aheadMs of [-180_000, 0, 240_000]) {
    const serverMs = athens.toServerMs(now.getTime()) + aheadMs;
    const time = zoneTime(
      "Europe/Athens",
      () => Promise.resolve(serverMs),
      () => now,
    );
    expect((await time()).aheadMs).toBe(aheadMs);
  }
});

test("all callers share one comparison for a minute, and after a failure the next caller compares again", async () => {
  let now = Date.UTC(2026, 9, 25, 0, 59, 59);
  let compared = 0;
  let isFailing = true;
  const time = zoneTime(
    "Europe/Athens",
    async () => {
      compared += 1;
      if (isFailing) throw new Mt5Error("lost", "no answer");
      return athens.toServerMs(now);
    },
    () => new Date(now),
  );
  await expect(time()).rejects.toThrow("no answer");
  isFailing = false;
  await Promise.all([time(), time(), time()]);
  expect(compared).toBe(2);
  now += MINUTE;
  await time();
  expect(compared).toBe(3);
});

test("a configured zone has to agree with the server's clock, also in the hour that daylight saving repeats", async () => {
  const zone = "Europe/Athens";
  const summer = new Date(Date.UTC(2026, 6, 15, 10));
  const repeated = [0, 30, 60, 90].map((minutes) => new Date(Date.UTC(2026, 9, 25, 0, minutes)));
  for (const now of [summer, ...repeated]) {
    const time = zoneTime(
      zone,
      () => Promise.resolve(athens.toServerMs(now.getTime()) + 4_321),
      () => now,
    );
    expect((await time()).offsetMinutes(now.getTime())).toBe(athens.offsetMinutes(now.getTime()));
  }
  // The server follows another daylight-saving rule, as most brokers do with the one of New York.
  const time = zoneTime(
    zone,
    () => Promise.resolve(summer.getTime() + 2 * HOUR),
    () => summer,
  );
  await expect(time()).rejects.toMatchObject({
    problem: "clock_differs",
    message:
      "MT5_TIME_ZONE=Europe/Athens differs from the platform's clock by 60 minutes: correct it, or the clock that is wrong",
  });
});

test("while a zone is compared again the last result is used, and a difference stops all reads until the clocks agree", async () => {
  let now = Date.UTC(2026, 6, 15, 10);
  let aheadHours = 3;
  let release: (() => void) | undefined;
  const time = zoneTime(
    "Europe/Athens",
    async () => {
      if (release === undefined) return now + aheadHours * HOUR;
      await new Promise<void>((resolve) => (release = resolve));
      return now + aheadHours * HOUR;
    },
    () => new Date(now),
  );
  await time();
  now += HOUR;
  aheadHours = 2;
  release = () => undefined;
  expect((await time()).offsetMinutes(now)).toBe(180);
  release();
  release = undefined;
  await expect.poll(() => time().then(String, (error: Mt5Error) => error.problem)).toBe("clock_differs");
  aheadHours = 3;
  await expect.poll(() => time().then((clock) => clock.offsetMinutes(now), String)).toBe(180);
});
