import type { QueueState } from "#kernel/queue-until-flat.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** Of a withdrawal whose caller lets it wait until the Master is flat. The state in which it has ended stays. */
export type Queue = {
  readonly state: QueueState;
  /** It is executed by then, or not at all. */
  readonly until: Date;
};

/** Withdrawals of one Investor that wait at the same time. */
export const MAX_WAITING_OF_INVESTOR = 20;

export function tooManyQueued(): Refusal {
  const message = `The Investor has ${MAX_WAITING_OF_INVESTOR} withdrawals that wait. Cancel one, or retry when the Master is flat.`;
  return refuse("too_many_queued", message, { outcome: "not_executed" });
}
