import type { Refusal, RefusalOutcome } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

type Why =
  /** The next allocations of the Master cannot be read. */
  | "unreadable"
  /** Its fees or its payment account do not reconcile. */
  | "break";

/** No fee of the Master is decided or sent until the manual review is decided. */
export function safetyStop(login: string, why: Why, outcome: RefusalOutcome = "not_executed"): Refusal {
  const message =
    why === "unreadable"
      ? `Performance fees of Master ${login} are suspended: its allocations cannot be read. Manual review is required.`
      : `Performance fees of Master ${login} are suspended pending manual review of a reconciliation break.`;
  return refuse("safety_stop", message, { outcome, details: { login } });
}
