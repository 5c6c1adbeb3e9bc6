import fc from "fast-check";
import { expect, test } from "vitest";
import { Mt5Error } from "./errors.ts";
import { fixedClock, measuredOffset, measuredTime, zoneClock, zoneTime } from "./server-clock.ts";

const athens = zoneClock("Europe/Athens");
const HOUR = 3_600_000;

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

test("a time in the repeated hour is the earlier instant, and one in the skipped hour is still converted", () => {
  const autumn = Date.UTC(2026, 9, 25, 1);
  expect(athens.toUtcMs(Date.UTC(2026, 9, 25, 3, 30))).toBe(autumn - HOUR / 2);
  const spring = Date.UTC(2026, 2, 29, 1);
  expect(Math.abs(athens.toUtcMs(Date.UTC(2026, 2, 29, 3, 30)) - spring)).toBeLessThanOrEqual(HOUR);
});

test("every instant outside the repeated hour is unchanged by conversion to server time and back", () => {
  const zones = ["Europe/Athens", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"].map(zoneClock);
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: Date.UTC(2020), max: Date.UTC(2035) }), (clock, utcMs) => {
      const back = clock.toUtcMs(clock.toServerMs(utcMs));
      expect([utcMs, utcMs - HOUR, utcMs - HOUR / 2]).toContain(back);
      expect(clock.toServerMs(back)).toBe(clock.toServerMs(utcMs));
    }),
  );
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

test("a measured offset is rounded to a quarter of an hour", () => {
  const utc = Date.UTC(2026, 10, 21, 12);
  expect(measuredOffset(utc + 3 * HOUR + 4_321, utc)).toBe(180);
  expect(measuredOffset(utc - 5 * HOUR - 60_000, utc)).toBe(-300);
  expect(fixedClock(345).toUtcMs(utc + 345 * 60_000)).toBe(utc);
});

test("all callers share one measurement of the offset per hour, and a failure is measured again", async () => {
  let now = Date.UTC(2026, 9, 25, 0, 59, 59);
  let measured = 0;
  let offsetHours = 3;
  let isFailing = true;
  const time = measuredTime(
    async () => {
      measured += 1;
      if (isFailing) throw new Mt5Error("lost", "no answer");
      return now + offsetHours * HOUR + 400;
    },
    () => new Date(now),
  );
  await expect(time()).rejects.toThrow("no answer");
  isFailing = false;
  const clocks = await Promise.all([time(), time(), time()]);
  expect(clocks.map((clock) => clock.offsetMinutes(now))).toEqual([180, 180, 180]);
  expect(measured).toBe(2);

  // Daylight-saving changes are on the hour, and so is the next measurement.
  now += 1_000;
  offsetHours = 2;
  expect((await time()).offsetMinutes(now)).toBe(120);
  expect(measured).toBe(3);
});

test("a clock that differs by less is measured: weeks end by the platform's clock", async () => {
  const now = new Date(Date.UTC(2026, 10, 21, 12));
  for (const aheadMs of [-180_000, 0, 240_000]) {
    const serverMs = athens.toServerMs(now.getTime()) + aheadMs;
    for (const time of [
      measuredTime(
        () => Promise.resolve(serverMs),
        () => now,
      ),
      zoneTime(
        "Europe/Athens",
        () => Promise.resolve(serverMs),
        () => now,
      ),
    ]) {
      expect((await time()).aheadMs).toBe(aheadMs);
    }
  }
});

test("a server clock that is wrong by minutes is an error, not an offset", async () => {
  const now = new Date(Date.UTC(2026, 10, 21, 12));
  const time = measuredTime(
    () => Promise.resolve(now.getTime() + 2 * HOUR + 7 * 60_000),
    () => now,
  );
  await expect(time()).rejects.toMatchObject({
    problem: "clock_differs",
    message: expect.stringContaining("differ by more than five minutes") as string,
  });
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
    message: "MT5_TIME_ZONE=Europe/Athens differs from the platform's clock by 60 minutes: correct it, or remove it",
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
