import {
  BUSY_RETRY_AFTER_MS,
  Refusal,
  type RefusalStatus,
  RESTART_RETRY_AFTER_MS,
  refusalsOf,
} from "../values/refusal.ts";

/** The refusals of the transports themselves. Any call to another service may end in one of these. */
export const { refuse, refusals } = refusalsOf({
  malformed_request: "invalid",
  request_too_large: "invalid",
  amount_missing: "invalid",
  currency_not_supported: "invalid",
  not_permitted: "forbidden",
  deadline_exceeded: "unavailable",
  service_unavailable: "unavailable",
  outcome_unknown: "unknown_outcome",
  busy: "busy",
  response_too_large: "internal",
  internal: "internal",
});

export function malformedRequest(message: string): Refusal {
  return refuse("malformed_request", message, { outcome: "not_executed" });
}

export function requestTooLarge(bytes: number, maxBytes: number): Refusal {
  return refuse("request_too_large", `The request has ${bytes} bytes; the limit is ${maxBytes}.`, {
    outcome: "not_executed",
    details: { bytes: String(bytes), most: String(maxBytes) },
  });
}

export function notPermitted(rpc: string): Refusal {
  return refuse("not_permitted", `The caller may not use ${rpc}.`, { outcome: "not_executed" });
}

export function deadlineExceeded(): Refusal {
  return refuse("deadline_exceeded", "The deadline passed before the work began.", {
    outcome: "not_executed",
  });
}

export function serviceUnavailable(service: string): Refusal {
  return refuse("service_unavailable", `The service ${service} cannot be reached.`, {
    outcome: "not_executed",
    retryAfterMs: RESTART_RETRY_AFTER_MS,
  });
}

export function databaseUnavailable(): Refusal {
  return refuse("service_unavailable", "The database cannot be reached.", {
    outcome: "not_executed",
    retryAfterMs: RESTART_RETRY_AFTER_MS,
  });
}

export function outcomeUnknown(service: string): Refusal {
  return refuse("outcome_unknown", `The service ${service} did not answer in time. The outcome is not known yet.`, {
    outcome: "unknown",
  });
}

export function busy(): Refusal {
  return refuse(
    "busy",
    "The service works on as many requests as it may at the same time. Nothing was executed. Send the request again in a second.",
    {
      outcome: "not_executed",
      retryAfterMs: BUSY_RETRY_AFTER_MS,
    },
  );
}

/** Statuses with which a service reports that it could not do its work; the others are expected answers. */
const FAILURES: ReadonlySet<RefusalStatus> = new Set(["internal", "unknown_outcome", "unavailable", "busy"]);

export function failureOf(error: unknown): { readonly outcome: string; readonly hasFailed: boolean } {
  if (!(error instanceof Refusal)) return { outcome: "internal", hasFailed: true };
  return { outcome: error.code, hasFailed: FAILURES.has(error.status) };
}
