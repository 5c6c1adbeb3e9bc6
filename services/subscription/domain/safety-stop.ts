import type { Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";

/** The refusal of every new operation with a Master whose pool needs manual review. */
export function safetyStop(masterLogin: string, why: "stopped" | "deficit"): Refusal {
  const message =
    why === "stopped"
      ? `Operations on Master ${masterLogin} are suspended pending manual review.`
      : `The pool of Master ${masterLogin} is in deficit. This is possible again when a compensation of the broker, or a decision of operators, has covered it.`;
  return refuse("safety_stop", message, { outcome: "not_executed" });
}
