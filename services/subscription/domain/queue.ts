import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** Withdrawals of one Investor that wait at the same time. */
export const MAX_WAITING_OF_INVESTOR = 20;

export function tooManyQueued(): Refusal {
  const message = `The Investor has ${MAX_WAITING_OF_INVESTOR} withdrawals that wait. Cancel one, or retry when the Master is flat.`;
  return refuse("too_many_queued", message, { outcome: "not_executed" });
}
