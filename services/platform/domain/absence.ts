import type { ReviewReason } from "./leg.ts";
import { lostAfterMs } from "./permit.ts";

/** A leg whose sender is still not fenced this long after its quiet period, although the history was read, is sent to manual review. */
export const RESOLUTION_BOUND_MS = 75_000;
/** Delays of the first scans after the loss, when most deals are found; later delays double. */
const EARLY_SCANS_MS = [250, 1_000, 2_000, 4_000];
/** Longest pause between two scans, so that a command that is executed late is detected within this time. */
export const SCAN_INTERVAL_MS = 60_000;
/** A scan that failed is repeated no sooner than this. */
const MIN_RETRY_PAUSE_MS = 500;
/** Minimum time between the two scans of a proof: two scans at the same moment miss the same deal. */
const MIN_CLEAN_SCAN_GAP_MS = 1_000;

/** What is known about an attempt with an unknown outcome. All times are milliseconds since 1970. */
export type LostAttempt = {
  readonly lostAtMs: number;
  readonly permitExpiresAtMs: number;
  /** How long its sender waits for the answer. */
  readonly commandTimeoutMs: number;
  /** Its sender has confirmed that it can write no more of the command: the session was reset or the answer read whole. */
  readonly isFenced: boolean;
  /** Last heartbeat of the sender's process. */
  readonly senderHeartbeatAtMs: number;
  /** Since when this process has watched the clock and seen no step: only this time counts towards the quiet period and the deadline. */
  readonly watchedSinceMs: number;
  /** Start of the last scan, also of one that failed. */
  readonly lastScanStartedAtMs?: number;
  /** Complete reads of the history, oldest first; a read that failed or had gaps is not among them. */
  readonly scans: readonly Scan[];
};

export type Scan = {
  /** When the read began: it covers everything that was applied before. */
  readonly startedAtMs: number;
  readonly verdict: "clean" | "candidates";
};

export type AbsenceDecision =
  | { readonly kind: "absent" }
  | { readonly kind: "review"; readonly reason: ReviewReason }
  /** Nothing is proven yet; scan again at this time. */
  | { readonly kind: "scan"; readonly atMs: number };

/**
 * Absence is proven by two clean scans, one past half of the quiet period and one past all of it, once the sender can no
 * longer write the command. The quiet period begins when the permit and the socket time-out have ended, and
 * again when the process starts or the clock is stepped. While the platform does not answer, nothing is proven, however long that
 * takes: the next complete readings decide.
 */
export function decideAbsence(attempt: LostAttempt, { quietPeriodMs }: ProofSettings, nowMs: number): AbsenceDecision {
  const times = quietTimes(attempt, quietPeriodMs);
  const isFenced = attempt.isFenced || nowMs > times.senderStoppedByMs;
  const last = attempt.scans.at(-1);

  if (isFenced && last !== undefined && last.startedAtMs >= times.overMs) {
    if (last.verdict === "candidates") return { kind: "review", reason: "candidate_deal" };
    if (isCleanTwice(attempt.scans, times.halfMs)) return { kind: "absent" };
  }
  const isScanned = last !== undefined && last.startedAtMs >= times.overMs;
  if (nowMs >= times.boundMs && isScanned && !isFenced) return { kind: "review", reason: "sender_not_fenced" };
  return { kind: "scan", atMs: nextScanAt(attempt, times, nowMs) };
}

/** Whether the platform may still execute the command. Before that no proof exists that no money will move. */
export function mayStillArrive(attempt: LostAttempt, { quietPeriodMs }: ProofSettings, nowMs: number): boolean {
  const { overMs, senderStoppedByMs } = quietTimes(attempt, quietPeriodMs);
  return nowMs < overMs || !(attempt.isFenced || nowMs > senderStoppedByMs);
}

export type ProofSettings = { readonly quietPeriodMs: number };

type QuietTimes = {
  readonly halfMs: number;
  readonly overMs: number;
  /** A sender without a heartbeat until then is considered dead, and its sockets closed. */
  readonly senderStoppedByMs: number;
  readonly boundMs: number;
};

function quietTimes(
  { permitExpiresAtMs, commandTimeoutMs, ...attempt }: LostAttempt,
  quietPeriodMs: number,
): QuietTimes {
  const { watchedSinceMs } = attempt;
  const sinceMs = Math.max(lostAfterMs(permitExpiresAtMs, commandTimeoutMs), watchedSinceMs);
  const overMs = sinceMs + quietPeriodMs;
  return {
    halfMs: sinceMs + quietPeriodMs / 2,
    overMs,
    senderStoppedByMs: Math.max(attempt.senderHeartbeatAtMs, watchedSinceMs) + quietPeriodMs,
    boundMs: overMs + RESOLUTION_BOUND_MS,
  };
}

function isCleanTwice(scans: readonly Scan[], sinceMs: number): boolean {
  const first = scans.find(({ startedAtMs, verdict }) => startedAtMs >= sinceMs && verdict === "clean");
  const last = scans.at(-1);
  return first !== undefined && last !== undefined && last.startedAtMs - first.startedAtMs >= MIN_CLEAN_SCAN_GAP_MS;
}

/** Soon at first, then at growing intervals, and always when the proof or its deadline needs a scan. */
function nextScanAt({ lostAtMs, lastScanStartedAtMs, scans }: LostAttempt, times: QuietTimes, nowMs: number): number {
  const lastScanMs = scans.at(-1)?.startedAtMs ?? 0;
  const due = [
    scheduledScanAt(lostAtMs, lastScanMs),
    times.halfMs,
    times.overMs,
    times.senderStoppedByMs + 1,
    times.boundMs,
  ];
  if (lastScanMs >= times.overMs) due.push(lastScanMs + MIN_CLEAN_SCAN_GAP_MS);
  const next = Math.min(...due.filter((dueMs) => dueMs > lastScanMs));
  return Math.max(next, nowMs, (lastScanStartedAtMs ?? 0) + MIN_RETRY_PAUSE_MS);
}

/** The first scheduled time after the last scan. */
function scheduledScanAt(lostAtMs: number, lastScanMs: number): number {
  const early = EARLY_SCANS_MS.find((delayMs) => lostAtMs + delayMs > lastScanMs);
  if (early !== undefined) return lostAtMs + early;
  return lastScanMs + Math.min(SCAN_INTERVAL_MS, lastScanMs - lostAtMs);
}
