import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

/** Nothing is begun with a Master while something about its pool is for a person to say. */
export function safetyStop(why: "stopped" | "deficit"): Refusal {
  const message =
    why === "stopped"
      ? "this Master is stopped until a person has looked at it"
      : "the pool of this Master has lost more than was in it; an operator has to compensate it first";
  return refuse("safety_stop", message, { outcome: "not_executed" });
}
