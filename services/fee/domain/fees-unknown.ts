import { type Refusal, type RefusalOutcome, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** The database may have lost fees: nothing is decided in it, and none is shown, until they are found. */
export function feesUnknown(outcome: RefusalOutcome = "not_executed"): Refusal {
  return refuse(
    "service_unavailable",
    "Fees that this database may have lost are being looked for after a restart of it. Retry shortly.",
    { outcome, retryAfterMs: RETRY_AFTER_MS },
  );
}
