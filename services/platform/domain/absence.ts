import type { ReviewReason } from "./operation.ts";
import { lostAfterMs } from "./permit.ts";

/** How long after the quiet period an operation may stay without a proof in manual review gets it. */
export const RESOLUTION_BOUND_MS = 75_000;
/** First looks after the loss, when most lost answers are found; then the time since the loss doubles. */
const EARLY_LOOKS_MS = [250, 1_000, 2_000, 4_000];
/** A late application is detected within this time. */
export const SCAN_INTERVAL_MS = 60_000;
/** Looks that fail are repeated no faster than this. */
const LOOK_GAP_MS = 500;
/** Two scans closer than this could both miss a deal that is not shown yet. */
const SCAN_GAP_MS = 1_000;

/** What is known about an attempt whose fate is not. All times are milliseconds since 1970. */
export type LostAttempt = {
  readonly lostAtMs: number;
  readonly permitExpiresAtMs: number;
  /** Its sender told that nothing of the command is left on its side: the session was reset or the answer read whole. */
  readonly isFenced: boolean;
  /** Last sign of life of the sender's process. */
  readonly senderBeatAtMs: number;
  /** Since when this process has been able to look: a service that was down has missed no deadline. */
  readonly watchedSinceMs: number;
  /** Start of the last look, also of one that failed. */
  readonly lastLookAtMs?: number;
  /** Complete reads of the history, oldest first; a read that failed or had gaps is not among them. */
  readonly scans: readonly Scan[];
};

export type Scan = {
  /** When the read began: it speaks of everything that was applied before. */
  readonly startedAtMs: number;
  readonly verdict: "clean" | "candidates";
};

export type AbsenceDecision =
  | { readonly kind: "absent" }
  | { readonly kind: "review"; readonly reason: ReviewReason }
  /** Nothing is proven yet; look again then. */
  | { readonly kind: "look"; readonly atMs: number };

/**
 * Absence is proven by two clean scans, one past half of the quiet period and one past all of it, once nobody can write
 * the command any more. The quiet period begins where the permit and the socket time-out end.
 */
export function decideAbsence(attempt: LostAttempt, quietPeriodMs: number, nowMs: number): AbsenceDecision {
  const times = quietTimes(attempt, quietPeriodMs);
  const isFenced = attempt.isFenced || nowMs > times.senderGoneMs;
  const last = attempt.scans.at(-1);

  if (isFenced && last !== undefined && last.startedAtMs >= times.overMs) {
    if (last.verdict === "candidates") return { kind: "review", reason: "candidate_deal" };
    if (isCleanTwice(attempt.scans, times.halfMs)) return { kind: "absent" };
  }
  if (nowMs >= times.boundMs) {
    return { kind: "review", reason: isFenced ? "not_scanned_in_time" : "sender_not_fenced" };
  }
  return { kind: "look", atMs: nextLook(attempt, times, nowMs) };
}

type QuietTimes = {
  readonly halfMs: number;
  readonly overMs: number;
  /** A sender without a sign of life until then is taken for dead, and its sockets with it. */
  readonly senderGoneMs: number;
  readonly boundMs: number;
};

function quietTimes({ permitExpiresAtMs, ...attempt }: LostAttempt, quietPeriodMs: number): QuietTimes {
  const sinceMs = lostAfterMs(permitExpiresAtMs);
  const overMs = sinceMs + quietPeriodMs;
  return {
    halfMs: sinceMs + quietPeriodMs / 2,
    overMs,
    senderGoneMs: attempt.senderBeatAtMs + quietPeriodMs,
    boundMs: Math.max(overMs, attempt.watchedSinceMs) + RESOLUTION_BOUND_MS,
  };
}

function isCleanTwice(scans: readonly Scan[], sinceMs: number): boolean {
  const first = scans.find(({ startedAtMs, verdict }) => startedAtMs >= sinceMs && verdict === "clean");
  const last = scans.at(-1);
  return first !== undefined && last !== undefined && last.startedAtMs - first.startedAtMs >= SCAN_GAP_MS;
}

/** Soon at first, then ever more rarely, and always where the proof or its bound needs one. */
function nextLook({ lostAtMs, lastLookAtMs, scans }: LostAttempt, times: QuietTimes, nowMs: number): number {
  const lastScanMs = scans.at(-1)?.startedAtMs ?? 0;
  const due = [regularLook(lostAtMs, lastScanMs), times.halfMs, times.overMs, times.senderGoneMs + 1, times.boundMs];
  if (lastScanMs >= times.overMs) due.push(lastScanMs + SCAN_GAP_MS);
  const next = Math.min(...due.filter((dueMs) => dueMs > lastScanMs));
  return Math.max(next, nowMs, (lastLookAtMs ?? 0) + LOOK_GAP_MS);
}

/** The first time of the schedule after the last scan. */
function regularLook(lostAtMs: number, lastScanMs: number): number {
  const early = EARLY_LOOKS_MS.find((delayMs) => lostAtMs + delayMs > lastScanMs);
  if (early !== undefined) return lostAtMs + early;
  return lastScanMs + Math.min(SCAN_INTERVAL_MS, lastScanMs - lostAtMs);
}
