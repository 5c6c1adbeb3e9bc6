import { OPERATION_KINDS, type OperationKind } from "./operation-kind.ts";

/**
 * Where one money operation stands. `attempt` is the number of its last permit, 0 before the first; SENDING and UNKNOWN
 * speak of that attempt. ABSENT and VOID are fates of an attempt and never of the operation.
 */
export type Operation = {
  readonly kind: OperationKind;
  readonly attempt: number;
  /** How many of its attempts were proven absent. */
  readonly absences: number;
} & OperationStatus;

export type OperationStatus =
  | { readonly state: "INTENT" }
  | { readonly state: "SENDING" }
  | { readonly state: "UNKNOWN" }
  | { readonly state: "APPLIED"; readonly ticket: bigint }
  | { readonly state: "REFUSED"; readonly reason: RefusalReason; readonly platformCode?: number }
  | { readonly state: "REVIEW"; readonly reason: ReviewReason; readonly cameFrom: Exclude<OperationState, "REVIEW"> };

export type OperationState = "INTENT" | "SENDING" | "UNKNOWN" | "APPLIED" | "REFUSED" | "REVIEW";
/** Why surely no money moved, and none will. */
export type RefusalReason =
  | "insufficient_funds"
  | "platform_rejected"
  | "absent"
  | "expired"
  | "account_busy"
  | "nothing_to_take"
  | "decided";
/** Why a person has to look. */
export type ReviewReason =
  | "deal_after_absence"
  | "deal_after_refusal"
  | "applied_deal_gone"
  | "attempts_exhausted"
  | "amount_differs"
  | "not_a_balance_deal"
  | "two_deals"
  | "candidate_deal"
  | "sender_not_fenced"
  | "not_scanned_in_time"
  | "told_deal_not_shown"
  | "ticket_conflict"
  | "applied_deal_differs";
export type AttemptState = "SENDING" | "UNKNOWN" | "APPLIED" | "REFUSED" | "ABSENT" | "VOID";

export type OperationEvent =
  /** A permit was asked for: the only event that leads to a send, and it leads to one. */
  | { readonly type: "permit_granted" }
  /** Nobody may send any more: the deadline passed, the login stayed busy, a check failed. */
  | { readonly type: "given_up"; readonly reason: RefusalReason }
  /** The platform's answer, or a deal with the attempt's reference, same login and same amount, in its history. */
  | { readonly type: "applied"; readonly attempt: number; readonly ticket: bigint }
  | { readonly type: "refused"; readonly attempt: number; readonly code: number }
  /** The permit's own holder knows that not one byte of the command was written. */
  | { readonly type: "not_sent"; readonly attempt: number }
  /** An ambiguous answer, or the permit and the socket time-out passed without any. */
  | { readonly type: "lost"; readonly attempt: number }
  | { readonly type: "proven_absent"; readonly attempt: number }
  /** Evidence that no rule covers: another amount, a rewritten comment, no proof in time. */
  | { readonly type: "does_not_fit"; readonly reason: ReviewReason }
  /** The deal of an applied operation is no longer in the platform's history. */
  | { readonly type: "deal_gone" }
  | { readonly type: "decided_applied"; readonly ticket: bigint }
  | { readonly type: "decided_refused" };

/** What a step writes in its one transaction, beside the compare-and-set on the state that it was decided from. */
export type Written =
  /** The row of the next attempt, with its unique reference, its sender and its end: the right to send, once. */
  | "permit"
  /** What became of the present attempt. */
  | "fate"
  /** Server and ticket, unique together. */
  | "deal"
  /** The change of balance in the log of the login; a Master's when the reading of its history reaches the deal. */
  | "entry"
  /** When it is scanned, may ask for a permit again, or has its deal looked for again. */
  | "next_scan"
  /** A row for manual review, with what is known. */
  | "finding";

export type Step =
  | {
      readonly kind: "move";
      readonly to: Operation;
      /** What became of an attempt. */
      readonly attempt?: { readonly number: number; readonly state: AttemptState };
      /** What has to be written in the transaction of this step. */
      readonly writes: readonly Written[];
    }
  /** Known already, or it says nothing that could still change anything. */
  | { readonly kind: "stay" }
  /** A deal beyond the one that this operation may have: it enters the log as foreign, and a person looks. */
  | { readonly kind: "unmatched"; readonly ticket: bigint };

/** What a repeated key is answered: a first result stands, also while a person looks at what happened to it later. */
export type Outcome = "PENDING" | "UNKNOWN" | "APPLIED" | "REFUSED";

export function outcomeOf(operation: Operation): Outcome {
  switch (told(operation)) {
    case "APPLIED":
      return "APPLIED";
    case "REFUSED":
      return "REFUSED";
    case "INTENT":
      return operation.state === "REVIEW" ? "UNKNOWN" : "PENDING";
    case "SENDING":
    case "UNKNOWN":
      return "UNKNOWN";
  }
}

/** Where it stood when a person got it, else where it stands. */
export function told(operation: Operation): Exclude<OperationState, "REVIEW"> {
  return operation.state === "REVIEW" ? operation.cameFrom : operation.state;
}

/** A permit was given and nobody knows yet what came of it. */
export function isUnderWay(operation: Operation): boolean {
  const state = told(operation);
  return state === "SENDING" || state === "UNKNOWN";
}

/** At most one such operation a login: money may be under way, so no other operation of that login gets a permit. */
export function occupiesLogin(operation: Operation): boolean {
  return OPERATION_KINDS[operation.kind].exclusive && isUnderWay(operation);
}
