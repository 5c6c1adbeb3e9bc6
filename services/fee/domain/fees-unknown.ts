import { type Refusal, type RefusalOutcome, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export function feesUnknown(outcome: RefusalOutcome): Refusal {
  return refuse(
    "service_unavailable",
    "Fees that this database may have lost are being looked for after a restart of it. Retry shortly.",
    { outcome, retryAfterMs: RETRY_AFTER_MS },
  );
}
