import { type Refusal, type RefusalOutcome, refusalsOf } from "#kernel/values/refusal.ts";

/** Why the operation that has an Idempotency-Key is not the answer to a request with it: of the edge, and of a service that stores keys too. */
export const { refuse, refusals: KEY_REFUSALS } = refusalsOf({
  idempotency_key_reused: "invalid",
  operation_in_progress: "conflict",
});

/** The request is another one, and was not executed. Its caller means the command that the key was made for: the outcome is that of that one. */
export function keyReused(operationId: string, outcome: RefusalOutcome): Refusal {
  const other = `The Idempotency-Key belongs to operation ${operationId}, whose request had other parameters.`;
  const message =
    outcome === "not_executed"
      ? `${other} Neither was executed.`
      : `${other} This request was not executed, that one may have been. Repeat that one unchanged before you send anything under another key; a deposit, withdrawal, assign or unassign is also at GET /api/v1/operations/${operationId}.`;
  return refuse("idempotency_key_reused", message, { outcome, operationId });
}

export function keyInProgress(operationId: string): Refusal {
  const message = `The request with this Idempotency-Key is still being processed (${operationId}). Repeat it with the same key.`;
  return refuse("operation_in_progress", message, { outcome: "unknown", operationId });
}
