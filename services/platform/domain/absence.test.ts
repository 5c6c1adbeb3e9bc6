import fc from "fast-check";
import { expect, test } from "vitest";
import {
  decideAbsence,
  type LostAttempt,
  mayStillArrive,
  RESOLUTION_BOUND_MS,
  SCAN_INTERVAL_MS,
  type Scan,
} from "./absence.ts";

const QUIET_MS = 300_000;
const SETTINGS = { quietPeriodMs: QUIET_MS };
const DAYS_MS = 3 * 86_400_000;
/** The permit ended at 0, so the quiet period runs from 5 s to 305 s. */
const QUIET_SINCE = 5_000;
const HALF = QUIET_SINCE + QUIET_MS / 2;
const OVER = QUIET_SINCE + QUIET_MS;

const clean = (startedAtMs: number): Scan => ({ startedAtMs, verdict: "clean" });
const candidates = (startedAtMs: number): Scan => ({ startedAtMs, verdict: "candidates" });

function lost(own: Partial<LostAttempt> = {}): LostAttempt {
  return {
    lostAtMs: 3_000,
    permitExpiresAtMs: 0,
    commandTimeoutMs: 5_000,
    isFenced: true,
    senderHeartbeatAtMs: OVER,
    watchedSinceMs: 0,
    scans: [],
    ...own,
  };
}

test("absence needs a clean scan past half of the quiet period and one past all of it", () => {
  const proven = lost({ scans: [clean(10_000), clean(HALF), clean(OVER)] });
  expect(decideAbsence(proven, SETTINGS, OVER)).toEqual({ kind: "absent" });

  for (const scans of [[], [clean(OVER)], [clean(HALF - 1), clean(OVER)], [clean(HALF), clean(OVER - 1)]]) {
    expect(decideAbsence(lost({ scans }), SETTINGS, OVER)).toMatchObject({ kind: "scan" });
  }
});

test("the quiet period begins when the sender has stopped waiting for the answer", () => {
  const scans = [clean(10_000), clean(HALF), clean(OVER)];
  const patient = lost({ scans, commandTimeoutMs: 30_000 });
  expect(decideAbsence(patient, SETTINGS, OVER)).toMatchObject({ kind: "scan" });
  const later = [clean(HALF + 25_000), clean(OVER + 25_000)];
  expect(decideAbsence({ ...patient, scans: later }, SETTINGS, OVER + 25_000)).toEqual({ kind: "absent" });
});

test("a process that starts, or sees a step of the clock, watches a whole quiet period before it declares absence", () => {
  const watchedSinceMs = OVER + 3_600_000;
  const halfMs = watchedSinceMs + QUIET_MS / 2;
  const overMs = watchedSinceMs + QUIET_MS;
  const attempt = lost({ watchedSinceMs });
  // What was read before shows deals, and proves nothing about their absence.
  const before = [clean(HALF), clean(OVER)];
  expect(decideAbsence({ ...attempt, scans: before }, SETTINGS, watchedSinceMs + 1)).toMatchObject({ kind: "scan" });
  const early = [...before, clean(halfMs - 1), clean(overMs)];
  expect(decideAbsence({ ...attempt, scans: early }, SETTINGS, overMs)).toMatchObject({ kind: "scan" });
  const proven = [...before, clean(halfMs), clean(overMs)];
  expect(decideAbsence({ ...attempt, scans: proven }, SETTINGS, overMs)).toEqual({ kind: "absent" });
});

test("while the sender may still send the command, absence is not proven", () => {
  const scans = [clean(HALF), clean(OVER)];
  const running = lost({ isFenced: false, senderHeartbeatAtMs: OVER - 1_000, scans });
  expect(decideAbsence(running, SETTINGS, OVER)).toMatchObject({ kind: "scan" });
  expect(decideAbsence(running, SETTINGS, OVER + RESOLUTION_BOUND_MS)).toEqual({
    kind: "review",
    reason: "sender_not_fenced",
  });

  const ended = lost({ isFenced: false, senderHeartbeatAtMs: 1_000, scans });
  expect(decideAbsence(ended, SETTINGS, OVER)).toEqual({ kind: "absent" });
  expect(decideAbsence({ ...ended, senderHeartbeatAtMs: OVER - QUIET_MS }, SETTINGS, OVER)).toMatchObject({
    kind: "scan",
  });
});

test("a deal that may belong to the leg with a rewritten comment is sent to manual review after the quiet period", () => {
  expect(decideAbsence(lost({ scans: [candidates(10_000)] }), SETTINGS, 11_000)).toMatchObject({ kind: "scan" });
  expect(decideAbsence(lost({ scans: [clean(HALF), candidates(OVER)] }), SETTINGS, OVER)).toEqual({
    kind: "review",
    reason: "candidate_deal",
  });
});

test("a scan with candidates is not one of the two clean ones, even when a later one is clean", () => {
  const scans = [candidates(HALF), clean(OVER)];
  expect(decideAbsence(lost({ scans }), SETTINGS, OVER)).toEqual({ kind: "scan", atMs: OVER + 1_000 });
  expect(decideAbsence(lost({ scans: [...scans, clean(OVER + 1_000)] }), SETTINGS, OVER + 1_000)).toEqual({
    kind: "absent",
  });
});

test("while the history cannot be read a leg is scanned again, however long that takes", () => {
  const unscanned = lost({ scans: [clean(HALF)], lastScanStartedAtMs: OVER });
  for (const isFenced of [true, false]) {
    for (const nowMs of [OVER + RESOLUTION_BOUND_MS, OVER + DAYS_MS]) {
      const attempt = { ...unscanned, isFenced, senderHeartbeatAtMs: nowMs, lastScanStartedAtMs: nowMs };
      expect(decideAbsence(attempt, SETTINGS, nowMs)).toEqual({ kind: "scan", atMs: nowMs + 500 });
    }
  }
});

test("a command may still arrive until its quiet period is over and its sender has stopped", () => {
  expect(mayStillArrive(lost(), SETTINGS, OVER - 1)).toBe(true);
  expect(mayStillArrive(lost(), SETTINGS, OVER)).toBe(false);
  const running = lost({ isFenced: false, senderHeartbeatAtMs: OVER });
  expect(mayStillArrive(running, SETTINGS, OVER + QUIET_MS)).toBe(true);
  expect(mayStillArrive(running, SETTINGS, OVER + QUIET_MS + 1)).toBe(false);
  expect(mayStillArrive(lost({ watchedSinceMs: DAYS_MS }), SETTINGS, DAYS_MS + QUIET_MS - 1)).toBe(true);
});

test("scans run at 0.25, 1, 2 and 4 s, then at growing intervals of at most a minute, and at both times that the proof needs", () => {
  const times: number[] = [];
  let attempt = lost();
  let nowMs = attempt.lostAtMs;
  for (;;) {
    const decision = decideAbsence(attempt, SETTINGS, nowMs);
    if (decision.kind !== "scan") break;
    nowMs = decision.atMs;
    times.push((nowMs - attempt.lostAtMs) / 1_000);
    attempt = { ...attempt, lastScanStartedAtMs: nowMs, scans: [...attempt.scans, clean(nowMs)] };
  }
  expect(times).toEqual([0.25, 1, 2, 4, 8, 16, 32, 64, 124, 152, 212, 272, 302]);
  expect(decideAbsence(attempt, SETTINGS, nowMs)).toEqual({ kind: "absent" });
});

test("failed scans are repeated every half second and not in a hot loop", () => {
  const failing = lost({ lastScanStartedAtMs: 10_000 });
  expect(decideAbsence(failing, SETTINGS, 10_001)).toEqual({ kind: "scan", atMs: 10_500 });
});

test("absence is never declared before the quiet period is over, and every attempt whose history was read is decided or reviewed in time", () => {
  const scans = fc.array(fc.record({ at: fc.nat(500_000), isClean: fc.boolean() }), { maxLength: 8 });
  const times = fc.record({
    quiet: fc.integer({ min: 0, max: 400_000 }),
    now: fc.nat(600_000),
    heartbeat: fc.nat(600_000),
  });
  fc.assert(
    fc.property(scans, times, fc.boolean(), (generated, { quiet, now, heartbeat }, isFenced) => {
      const scansSoFar = generated
        .filter(({ at }) => at <= now)
        .sort((a, b) => a.at - b.at)
        .map(({ at, isClean }) => (isClean ? clean(at) : candidates(at)));
      const decision = decideAbsence(
        lost({ isFenced, senderHeartbeatAtMs: heartbeat, scans: scansSoFar }),
        { quietPeriodMs: quiet },
        now,
      );
      const over = QUIET_SINCE + quiet;
      if (decision.kind === "absent") {
        expect(now).toBeGreaterThanOrEqual(over);
        expect(isFenced || now - heartbeat > quiet).toBe(true);
        expect(scansSoFar.filter(({ verdict }) => verdict === "clean").length).toBeGreaterThanOrEqual(2);
      }
      if (decision.kind === "scan") {
        const isRead = (scansSoFar.at(-1)?.startedAtMs ?? 0) >= over;
        // A leg with a fenced sender needs at most one more reading.
        if (isRead && now >= over + RESOLUTION_BOUND_MS) {
          expect(isFenced || now - heartbeat > quiet).toBe(true);
          expect(decision.atMs).toBeLessThanOrEqual(now + 1_000);
        }
        expect(decision.atMs).toBeGreaterThanOrEqual(now);
        expect(decision.atMs).toBeLessThanOrEqual(Math.max(over + RESOLUTION_BOUND_MS, now + SCAN_INTERVAL_MS));
      }
    }),
    { numRuns: 1_000 },
  );
});
