import { step } from "./operation-machine.ts";
import { type Operation, told } from "./operation.ts";

/** What people can decide about a finding. */
export type ReviewAction =
  /** The operation was applied, with a deal that the platform shows. */
  | "confirm_applied"
  /** Nothing of it moved; a deal that comes later is a surplus. */
  | "confirm_not_applied"
  /** The money of a deal goes back, by an operation of its own. */
  | "reverse"
  /** The log gets an entry by which it says what the platform shows now. */
  | "correct_log"
  /** It is seen, and what was told stays. */
  | "acknowledge";

/** Findings about money that stands in the log and that nobody ordered, or that could not go back. */
const REVERSIBLE = new Set([
  "unmatched_deal",
  "unknown_reference",
  "misplaced_reference",
  "reversal_refused",
  "debit_without_credit",
]);
/** Findings about a deal that was told and is another one now. */
const CORRECTABLE = new Set(["deal_gone", "deal_changed", "deal_cancelled"]);
/** Whose money it is, is decided where the books of people are kept. */
const DECIDED_ELSEWHERE = new Set(["external_funds"]);

/** What may be decided about a finding, given the operation that it is about. Nothing: it is only on record. */
export function reviewActions(reason: string, operation: Operation | undefined): readonly ReviewAction[] {
  if (DECIDED_ELSEWHERE.has(reason)) return [];
  if (operation?.state === "REVIEW" && operation.reason === reason) return operationActions(operation);
  if (CORRECTABLE.has(reason)) return ["correct_log", "acknowledge"];
  return REVERSIBLE.has(reason) ? ["reverse", "acknowledge"] : ["acknowledge"];
}

/** The state machine knows what an operation may still become. */
function operationActions(operation: Extract<Operation, { state: "REVIEW" }>): readonly ReviewAction[] {
  if (told(operation) === "APPLIED") {
    const { reason } = operation;
    if (reason === "applied_deal_gone") return ["correct_log", "acknowledge"];
    return reason === "applied_deal_differs" ? ["correct_log", "reverse", "acknowledge"] : ["reverse", "acknowledge"];
  }
  const mayBeApplied = step(operation, { type: "decided_applied", ticket: 1n }).kind === "move";
  return mayBeApplied ? ["confirm_applied", "confirm_not_applied"] : ["confirm_not_applied"];
}
