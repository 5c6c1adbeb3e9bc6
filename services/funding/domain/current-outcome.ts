import type { Cashflow } from "./cashflow.ts";

/** PENDING: in progress, and its caller still waits. UNKNOWN: the deadline has passed without a final outcome. */
export type CurrentOutcome = "PENDING" | "EXECUTED" | "NOT_EXECUTED" | "UNKNOWN" | "REVIEW";

/** The recorded outcome of an operation. After its deadline an open one is unknown to its caller. */
export function currentOutcome(
  { state, doubt, deadline }: Pick<Cashflow, "state" | "doubt" | "deadline">,
  now: Date,
): CurrentOutcome {
  if (state === "POSTED") return "EXECUTED";
  if (state === "REFUSED") return "NOT_EXECUTED";
  return doubt ?? (deadline <= now ? "UNKNOWN" : "PENDING");
}
