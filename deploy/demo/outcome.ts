import { type Answer, type Exchange, problemOf } from "./http.ts";

/** The outcome of a command, as the caller can determine it. */
export type Outcome =
  | { readonly kind: "done"; readonly answer: Answer }
  /** Final. */
  | { readonly kind: "refused"; readonly answer: Answer }
  /** Nothing was executed, and the same request may succeed later. */
  | { readonly kind: "not_executed"; readonly why: string; readonly waitMs: number }
  /** The command may have been executed: the caller must search for its effect before it repeats the command. */
  | { readonly kind: "unknown"; readonly why: string };

/** For an answer without Retry-After, and for a process that restarts. */
const DEFAULT_WAIT_MS = 1_000;
const SERVER_ERROR = 500;
/** A later attempt is refused too: the platform has decided, or an operator has to act first. */
const FINAL = new Set(["platform_rejected", "safety_stop", "login_range_exhausted"]);

export function outcomeOf(exchange: Exchange): Outcome {
  if (exchange.kind === "not_sent") return { kind: "not_executed", why: exchange.why, waitMs: DEFAULT_WAIT_MS };
  if (exchange.kind === "lost") return { kind: "unknown", why: exchange.why };
  const { answer } = exchange;
  if (answer.status < 300) return { kind: "done", answer };
  const { retryable, outcome } = problemOf(answer);
  const why = describe(answer);
  const waitMs = answer.retryAfterMs ?? DEFAULT_WAIT_MS;
  // A duplicate is in progress: repeating it before its outcome is known could move the money twice.
  if (codeOf(answer) === "operation_in_progress") return { kind: "unknown", why };
  if (answer.status < SERVER_ERROR) return retryable === true ? { kind: "not_executed", why, waitMs } : refused(answer);
  if (outcome !== "not_executed") return { kind: "unknown", why };
  return isTransient(answer) ? { kind: "not_executed", why, waitMs } : refused(answer);
}

/** The stable code of a problem body; empty when there is none. */
export function codeOf(answer: Answer): string {
  return memberOf(answer, "code");
}

/** One line, such as: 409 exit_in_progress: the Investor is leaving this Master already. */
export function describe(answer: Answer): string {
  const code = codeOf(answer);
  return code === "" ? `${answer.status} without a problem body` : `${answer.status} ${reasonOf(answer)}`;
}

/** Code and detail of a problem body, without the status. */
export function reasonOf(answer: Answer): string {
  return `${codeOf(answer)}: ${memberOf(answer, "detail")}`;
}

function memberOf(answer: Answer, name: string): string {
  const member = problemOf(answer)[name];
  return typeof member === "string" ? member : "";
}

function refused(answer: Answer): Outcome {
  return { kind: "refused", answer };
}

/** The cause of every other refusal ends when all processes run again. */
function isTransient(answer: Answer): boolean {
  return !FINAL.has(codeOf(answer));
}
