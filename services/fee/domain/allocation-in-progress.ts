import { type Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** Nothing is lost: the next call and the job continue after the last committed step. */
export function allocationInProgress(masterLogin = ""): Refusal {
  const ofMaster = masterLogin === "" ? "the Master" : `Master ${masterLogin}`;
  const message = `Trading results of ${ofMaster} are being allocated to its Investors, which takes seconds. Nothing was executed. Send the request again in a second.`;
  return refuse("allocation_in_progress", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}
