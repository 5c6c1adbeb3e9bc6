import type { LegKind } from "./leg-kind.ts";

/**
 * Status of one leg. `attempt` is the number of its last permit, 0 before the first; SENDING and UNKNOWN
 * are about that attempt. ABSENT and VOID are outcomes of an attempt, never of the leg.
 */
export type Leg = {
  readonly kind: LegKind;
  readonly attempt: number;
  /** How many of its attempts were proven absent. */
  readonly absences: number;
} & LegStatus;

export type LegStatus =
  | { readonly state: "INTENT" }
  | { readonly state: "SENDING" }
  | { readonly state: "UNKNOWN" }
  | { readonly state: "APPLIED"; readonly ticket: bigint }
  | { readonly state: "REFUSED"; readonly reason: RefusalReason; readonly platformCode?: number }
  | { readonly state: "REVIEW"; readonly reason: ReviewReason; readonly cameFrom: Exclude<LegState, "REVIEW"> };

export type LegState = "INTENT" | "SENDING" | "UNKNOWN" | "APPLIED" | "REFUSED" | "REVIEW";
/** Why no money moved, and none will. */
export type RefusalReason =
  | "insufficient_funds"
  | "platform_rejected"
  | "absent"
  | "expired"
  | "account_busy"
  | "nothing_to_take"
  /** Calculated before a movement was imported that the database had lost. */
  | "outdated"
  /** Equal to a deposit or withdrawal that the database had lost. */
  | "possible_duplicate"
  | "decided";
/** Why the leg needs manual review. */
export type ReviewReason =
  | "deal_after_absence"
  | "deal_after_refusal"
  | "attempts_exhausted"
  | "amount_differs"
  | "not_a_balance_deal"
  | "two_deals"
  | "candidate_deal"
  | "sender_not_fenced"
  | "reported_deal_not_shown"
  | "ticket_conflict";
export type AttemptState = "SENDING" | "UNKNOWN" | "APPLIED" | "REFUSED" | "ABSENT" | "VOID";

export type LegEvent =
  /** A permit was requested: the only event that leads to a send, and to exactly one. */
  | { readonly type: "permit_granted" }
  /** The leg may not be sent any more: the deadline passed, the login stayed busy, or a check failed. */
  | { readonly type: "given_up"; readonly reason: RefusalReason }
  /** The platform's answer, or a deal with the attempt's reference, same login and same amount, in its history. */
  | { readonly type: "applied"; readonly attempt: number; readonly ticket: bigint }
  | { readonly type: "refused"; readonly attempt: number; readonly code: number }
  /** The sender confirms that it wrote no byte of the command. */
  | { readonly type: "not_sent"; readonly attempt: number }
  /** The answer was ambiguous, or none arrived before the permit and the socket time-out ended. */
  | { readonly type: "lost"; readonly attempt: number }
  | { readonly type: "proven_absent"; readonly attempt: number }
  /** The platform applied a later attempt than the last one that is recorded: the database has lost its permit. */
  | { readonly type: "lost_permit_applied"; readonly attempt: number; readonly ticket: bigint }
  /** Evidence that needs manual review: another amount, a rewritten comment, no proof in time. */
  | { readonly type: "does_not_fit"; readonly reason: ReviewReason }
  | { readonly type: "decided_applied"; readonly ticket: bigint }
  | { readonly type: "decided_refused" };

/** What a transition writes in its transaction, beside the compare-and-set on the previous state. */
export type Written =
  /** The row of the next attempt, with its unique reference, its sender and its expiry: the right to send once. */
  | "permit"
  /** The outcome of the current attempt. */
  | "outcome"
  /** Server and ticket, unique together. */
  | "deal"
  /** The change of balance in the log of the login; for a Master, when the reader reaches the deal in its history. */
  | "entry"
  /** When it is scanned, or may request a permit again. */
  | "next_scan"
  /** A row for manual review, with the evidence. */
  | "finding";

export type Transition =
  | {
      readonly kind: "move";
      readonly to: Leg;
      /** New state of an attempt. */
      readonly attempt?: { readonly number: number; readonly state: AttemptState };
      /** What the transaction of this transition has to write. */
      readonly writes: readonly Written[];
    }
  /** The event changes nothing. */
  | { readonly kind: "stay" }
  /** A second deal of this leg: it enters the log as external and is sent to manual review. */
  | { readonly kind: "unmatched"; readonly ticket: bigint };

/** The result for the caller. A repeated key returns it again: it is final, also while a finding is in manual review. */
export type Outcome = "PENDING" | "UNKNOWN" | "APPLIED" | "REFUSED";

export function outcomeOf(leg: Leg): Outcome {
  switch (reportedState(leg)) {
    case "APPLIED":
      return "APPLIED";
    case "REFUSED":
      return "REFUSED";
    case "INTENT":
      return leg.state === "REVIEW" ? "UNKNOWN" : "PENDING";
    case "SENDING":
    case "UNKNOWN":
      return "UNKNOWN";
  }
}

/** The state that was reported to the caller: the one before manual review, else the current one. */
export function reportedState(leg: Leg): Exclude<LegState, "REVIEW"> {
  return leg.state === "REVIEW" ? leg.cameFrom : leg.state;
}

/** A permit was granted and its outcome is unknown. */
export function isUnderWay(leg: Leg): boolean {
  const state = reportedState(leg);
  return state === "SENDING" || state === "UNKNOWN";
}
