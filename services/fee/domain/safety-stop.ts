import type { Refusal, RefusalOutcome } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

type Why =
  /** What follows in the Master's allocations cannot be read. */
  | "unreadable"
  /** Its fees, or its payment account, do not tie. */
  | "break";

/** Nothing is decided about a Master's fees, and nothing of them is sent, until people have looked. */
export function safetyStop(login: string, why: Why, outcome: RefusalOutcome = "not_executed"): Refusal {
  const message =
    why === "unreadable"
      ? `Performance fees of Master ${login} are suspended: its allocations cannot be read. Manual review is required.`
      : `Performance fees of Master ${login} are suspended pending manual review of a reconciliation break.`;
  return refuse("safety_stop", message, { outcome, details: { login } });
}
