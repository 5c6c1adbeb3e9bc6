import { isProblemCode, MEANINGS, type ProblemCode } from "../../problems/problems.ts";
import { setOf } from "../../fields/field.ts";

/** Codes are added, never changed. */
export const problemCode = setOf(
  "ProblemCode",
  "Stable code of a problem. New codes may be added: treat one that you do not know by its HTTP status, `retryable` and `outcome`.",
  MEANINGS,
);

/** Internal codes are not part of the interface. */
export function problemCodeOf(code: string): ProblemCode {
  return isProblemCode(code) ? code : "conflict";
}

export const problemOutcome = setOf("ProblemOutcome", "What is known about a failed command.", {
  not_executed: "Nothing was executed, and nothing will be.",
  unknown: "It may have been executed, or may still be. Find out before you send another request.",
});
