import type { Refusal, RefusalOutcome, RefusalStatus } from "#kernel/refusal.ts";
import { isProblemCode, PROBLEMS, type ProblemCode } from "./problems.ts";

/**
 * Whether the request was to change something; only then is there an outcome to speak of. Whoever asks what became of an
 * operation and gets a problem must find no `outcome` in it, which would be read as the operation's own.
 */
export type Intent = "command" | "question";

export type Verdict = {
  readonly code: ProblemCode;
  readonly status: number;
  readonly outcome: RefusalOutcome | undefined;
};

/** What a refusal becomes whose code is not a word of this interface: callers never see words that we use inside. */
const CODE_OF_STATUS: Readonly<Record<RefusalStatus, ProblemCode>> = {
  invalid: "validation_failed",
  not_found: "internal_error",
  conflict: "conflict",
  unavailable: "service_unavailable",
  rejected: "platform_rejected",
  unknown_outcome: "outcome_unknown",
  forbidden: "internal_error",
  busy: "service_unavailable",
  internal: "internal_error",
};

/** Words of the transports: a request that we built wrongly is our fault, not the caller's. */
const CODE_OF_TRANSPORT: Readonly<Record<string, ProblemCode>> = {
  malformed_request: "internal_error",
  amount_missing: "internal_error",
  request_too_large: "body_too_large",
  response_too_large: "internal_error",
};

/** The one table from a refusal of a service to what the caller is told. */
export function verdictOf(refusal: Refusal, intent: Intent): Verdict {
  const { code, status, outcome } = refusal;
  const isUnsure =
    outcome === "unknown" || status === "unknown_outcome" || (status === "internal" && outcome === undefined);
  if (intent === "question")
    return verdict(isUnsure && status !== "internal" ? "service_unavailable" : publicCode(code, status));
  const hidesOutcome = isUnsure && (status === "unknown_outcome" || status === "internal" || status === "unavailable");
  if (hidesOutcome) return verdict("outcome_unknown", "unknown");
  return verdict(publicCode(code, status), isUnsure ? "unknown" : "not_executed");
}

/** A throw that nobody foresaw. Once a command was sent, nobody here knows what became of it. */
export function verdictOfFault(intent: Intent, wasSent: boolean): Verdict {
  if (intent === "question") return verdict("internal_error");
  return wasSent ? verdict("outcome_unknown", "unknown") : verdict("internal_error", "not_executed");
}

function publicCode(code: string, status: RefusalStatus): ProblemCode {
  const own = Object.hasOwn(CODE_OF_TRANSPORT, code) ? CODE_OF_TRANSPORT[code] : undefined;
  return own ?? (isProblemCode(code) ? code : CODE_OF_STATUS[status]);
}

function verdict(code: ProblemCode, outcome?: RefusalOutcome): Verdict {
  return { code, status: PROBLEMS[code].status, outcome };
}
