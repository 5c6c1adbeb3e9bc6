import type { Cashflow } from "./cashflow.ts";

/** PENDING: somebody is at work on it for a caller who still waits. UNKNOWN: nobody knows yet. */
export type OutcomeSoFar = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN" | "REVIEW";

/** What the books can say of an operation. The caller was told nothing certain once its deadline has passed. */
export function outcomeSoFar(
  { state, doubt, deadline }: Pick<Cashflow, "state" | "doubt" | "deadline">,
  now: Date,
): OutcomeSoFar {
  if (state === "POSTED") return "EXECUTED";
  if (state === "REFUSED") return "NOT_EXECUTED";
  return doubt ?? (deadline <= now ? "UNKNOWN" : "PENDING");
}
