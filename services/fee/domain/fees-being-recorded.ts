import { type Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** Another transaction has the row of a Master for too long: nothing was recorded, and a repetition records it. */
export function feesBeingRecorded(masterLogin: string): Refusal {
  const message = `Fees of Master ${masterLogin} are being recorded, which takes seconds. Nothing was executed. Send the request again in a second.`;
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}
