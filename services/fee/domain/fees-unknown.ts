import { type Refusal, type RefusalOutcome, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** The database may have lost fees: nothing is decided in it, and none is shown, until they are found. */
export function feesUnknown(outcome: RefusalOutcome = "not_executed"): Refusal {
  return refuse(
    "service_unavailable",
    "The database was restarted or restored, and fees that it may have lost are being looked for: nothing is decided until they are found, which takes seconds. Send the request again after the time in Retry-After.",
    { outcome, retryAfterMs: RETRY_AFTER_MS },
  );
}
