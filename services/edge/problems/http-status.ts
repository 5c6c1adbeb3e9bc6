import type { Refusal, RefusalOutcome, RefusalStatus } from "#kernel/values/refusal.ts";
import { isProblemCode, PROBLEMS, type ProblemCode } from "./problems.ts";

/**
 * Whether the request was to change something; only then does the problem have an outcome. A caller that reads an
 * operation and gets a problem must find no `outcome` in it, which would be read as the outcome of the operation.
 */
export type Intent = "command" | "query";

export type Verdict = {
  readonly code: ProblemCode;
  readonly status: number;
  readonly outcome: RefusalOutcome | undefined;
};

/** The code for a refusal whose own code is not part of this interface: callers never see internal codes. */
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

/** Codes of the transports: a request that the edge built wrongly is not the fault of the caller. */
const CODE_OF_TRANSPORT: Readonly<Record<string, ProblemCode>> = {
  malformed_request: "internal_error",
  amount_missing: "internal_error",
  request_too_large: "body_too_large",
  response_too_large: "internal_error",
};

/** The one table from a refusal of a service to the response of the caller. */
export function verdictOf(refusal: Refusal, intent: Intent): Verdict {
  const { code, status, outcome } = refusal;
  const isUnknown =
    outcome === "unknown" || status === "unknown_outcome" || (status === "internal" && outcome === undefined);
  if (intent === "query") {
    return verdict(isUnknown && status !== "internal" ? "service_unavailable" : publicCode(code, status));
  }
  const hidesOutcome = isUnknown && (status === "unknown_outcome" || status === "internal" || status === "unavailable");
  if (hidesOutcome) return verdict("outcome_unknown", "unknown");
  return verdict(publicCode(code, status), isUnknown ? "unknown" : "not_executed");
}

/** An unexpected error. Once a command was sent, the edge does not know its outcome. */
export function verdictOfFault(intent: Intent, wasSent: boolean): Verdict {
  if (intent === "query") return verdict("internal_error");
  return wasSent ? verdict("outcome_unknown", "unknown") : verdict("internal_error", "not_executed");
}

function publicCode(code: string, status: RefusalStatus): ProblemCode {
  const own = Object.hasOwn(CODE_OF_TRANSPORT, code) ? CODE_OF_TRANSPORT[code] : undefined;
  return own ?? (isProblemCode(code) ? code : CODE_OF_STATUS[status]);
}

function verdict(code: ProblemCode, outcome?: RefusalOutcome): Verdict {
  return { code, status: PROBLEMS[code].status, outcome };
}
