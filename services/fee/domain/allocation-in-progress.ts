import { type Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** Nothing is lost: the next call and the job continue after the last committed step. */
export function allocationInProgress(masterLogin = ""): Refusal {
  const message = `The results of Master ${masterLogin} are being added to its Investors. Retry shortly.`;
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}
