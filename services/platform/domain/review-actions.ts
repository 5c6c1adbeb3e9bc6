import type { Action, Reason } from "#catalogue/reviews.ts";
import { applyEvent } from "./leg-machine.ts";
import { type Leg, reportedState } from "./leg.ts";

/** Findings about deals with a reference of this service that no transfer order accounts for. */
export const UNMATCHED: readonly Reason[] = ["unmatched_deal", "unknown_reference", "misplaced_reference"];
/** Findings about money in the log that no transfer order accounts for, or that could not be reversed. */
const REVERSIBLE = new Set<Reason>([...UNMATCHED, "reversal_refused", "debit_without_credit"]);
/** The platform has deals of legs that the database does not have. */
export const DATABASE_BEHIND = "database_behind";
/** No permit is granted for transfers of an account, because money moved on it that no service requested. */
export const ACCOUNT_STOPPED = "account_stopped";
/** The platform shows another account with the login of a managed one. */
export const OTHER_ACCOUNT = "other_account";
/** Deals of an account were amended or deleted on the platform, so that its log may differ from it. */
export const HISTORY_CHANGED = "history_changed";
/** A leg whose attempts have failed for hours. Further attempts are made meanwhile. */
export const STILL_NOT_APPLIED = "still_not_applied";
/** A leg whose outcome has been unknown for hours, because the history cannot be read. It is scanned meanwhile. */
export const STILL_UNKNOWN = "still_unknown";
/** Only recorded: the service that keeps the books of the Investors decides, or nothing has to be decided. */
const DECIDED_ELSEWHERE = new Set<Reason>(["external_funds", "imported_deal"]);

/** Actions for a finding, given the leg that it is about. Without actions the finding is only recorded. */
export function reviewActions(reason: Reason, leg: Leg | undefined): readonly Action[] {
  if (DECIDED_ELSEWHERE.has(reason)) return [];
  if (reason === DATABASE_BEHIND || reason === ACCOUNT_STOPPED) return ["resume"];
  if (reason === OTHER_ACCOUNT) return ["resume", "acknowledge"];
  if (reason === STILL_NOT_APPLIED) return ["retry", "confirm_not_applied"];
  if (reason === STILL_UNKNOWN) return ["confirm_applied", "confirm_not_applied"];
  if (reason === HISTORY_CHANGED) return ["correct_log", "acknowledge"];
  if (leg?.state === "REVIEW" && leg.reason === reason) return legActions(leg);
  return REVERSIBLE.has(reason) ? ["reverse", "acknowledge"] : ["acknowledge"];
}

/** The state machine decides which outcomes are still possible. */
function legActions(leg: Extract<Leg, { state: "REVIEW" }>): readonly Action[] {
  if (reportedState(leg) === "APPLIED") return ["reverse", "acknowledge"];
  const mayBeApplied = applyEvent(leg, { type: "decided_applied", ticket: 1n }).kind === "move";
  return mayBeApplied ? ["confirm_applied", "confirm_not_applied"] : ["confirm_not_applied"];
}
