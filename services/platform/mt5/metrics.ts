import { Counter, Gauge, Histogram } from "prom-client";
import { SECOND_MS } from "#kernel/values/duration.ts";
import type { Exchanged } from "./http/http-answer.ts";
import { KNOWN_RETCODES } from "./retcodes.ts";

const calls = new Counter({
  name: "pamm_platform_calls_total",
  help: "Requests to the trading platform, by command and result: return code, http_<status>, or why there is no answer.",
  labelNames: ["command", "code"],
});
const seconds = new Histogram({
  name: "pamm_platform_call_duration_seconds",
  help: "Time from the begin of a request to the trading platform to its answer, or to the loss of it, by command.",
  labelNames: ["command"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

export function observeCall(command: string, code: string, elapsedMs: number): void {
  calls.inc({ command, code });
  // What was not sent took no time of the platform.
  if (!NOT_SENT.has(code)) seconds.observe({ command }, elapsedMs / SECOND_MS);
}

const NOT_SENT: ReadonlySet<string> = new Set(["closed", "unauthenticated", "not_permitted"]);
/** The code is at the begin or the end of an answer, which may be long. */
const PART_BYTES = 256;
const CODE = /"retcode"\s*:\s*"?(\d{1,6})/i;

/** The result of a call as a label: few values, whatever the server answers. */
export function codeOf(exchanged: Exchanged): string {
  if (exchanged.kind !== "answered") return exchanged.reason;
  const { status, body } = exchanged.answer;
  if (status !== 200) return `http_${status}`;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const [, digits] =
    CODE.exec(text.toString("latin1", 0, PART_BYTES)) ??
    CODE.exec(text.toString("latin1", Math.max(0, text.length - PART_BYTES))) ??
    [];
  if (digits === undefined) return "unreadable";
  return KNOWN_RETCODES.has(Number(digits)) ? digits : "other";
}

export type ShownSessions = {
  readonly idle: number;
  readonly inUse: number;
  readonly max: number;
  readonly waiting: number;
};

let readSessions: (() => ShownSessions) | undefined;

const sessions = new Gauge({
  name: "pamm_platform_sessions",
  help: "Sessions with the trading platform that are signed in, by state: idle or in_use.",
  labelNames: ["state"],
  collect: () => showSessions(),
});
const maxSessions = new Gauge({
  name: "pamm_platform_sessions_max",
  help: "Most sessions with the trading platform that this process opens (MT5_SESSIONS).",
});
const waiting = new Gauge({
  name: "pamm_platform_session_waiting",
  help: "Requests to the trading platform that wait for a free session.",
});
const opened = new Counter({
  name: "pamm_platform_sessions_opened_total",
  help: "Attempts to open a session with the trading platform, by outcome: ok or failed.",
  labelNames: ["outcome"],
});
const certificateExpires = new Gauge({
  name: "pamm_platform_certificate_expires_timestamp_seconds",
  help: "When the certificate ends that the trading platform has shown last, in seconds since 1970.",
});
certificateExpires.remove();

function showSessions(): void {
  if (readSessions === undefined) return;
  const read = readSessions();
  sessions.set({ state: "idle" }, read.idle);
  sessions.set({ state: "in_use" }, read.inUse);
  maxSessions.set(read.max);
  waiting.set(read.waiting);
}

/** The sessions of this process, read whenever Prometheus asks. */
export function watchSessions(read: () => ShownSessions): void {
  readSessions = read;
  showSessions();
}

export function countOpened(outcome: "ok" | "failed"): void {
  opened.inc({ outcome });
}

export function showCertificate(validTo: Date): void {
  certificateExpires.set(validTo.getTime() / SECOND_MS);
}
