import { LEG_KINDS } from "./leg-kind.ts";
import {
  type AttemptState,
  type Leg,
  type LegEvent,
  type LegState,
  type RefusalReason,
  type ReviewReason,
  type Transition,
  reportedState,
  type Written,
} from "./leg.ts";

/** An internal leg that its service can request anew ends after this many attempts that were proven absent. */
export const MAX_ABSENT_ATTEMPTS = 3;
/** The attempt is one base32 digit of the reference. */
export const MAX_ATTEMPTS = 31;
/** The platform's "too frequent requests": not executed; a later attempt may succeed. */
const THROTTLED = 12;
const NO_MONEY = 10019;

export type TransitionRule = {
  readonly from: readonly LegState[];
  readonly on: LegEvent["type"];
  /** All conditions must hold. */
  readonly when: readonly Condition[];
  /** New state of the last attempt that is recorded, or of the one that begins. */
  readonly attempt?: AttemptState;
  readonly writes: readonly Written[];
} & Target;

/** New state; `because` where the event has no reason. UNMATCHED keeps the state: the deal is a second deal of the leg. */
type Target =
  | { readonly to: "INTENT" | "SENDING" | "UNKNOWN" | "APPLIED" | "UNMATCHED" }
  | { readonly to: "REFUSED"; readonly because?: RefusalReason }
  | { readonly to: "REVIEW"; readonly because?: ReviewReason };

type Condition = (leg: Leg, event: LegEvent) => boolean;

// Evidence is about one attempt. The outcome of another attempt must not end the current one, which its sender owns.
const ofCurrentAttempt: Condition = ({ attempt }, event) => "attempt" in event && event.attempt === attempt;
const ofOtherAttempt: Condition = (leg, event) => !ofCurrentAttempt(leg, event);
/** It was recorded before it was sent, after the current one had ended without effect: the database has lost these commits. */
const ofLaterAttempt: Condition = ({ attempt }, event) => "attempt" in event && event.attempt > attempt;
const ofOtherDeal: Condition = (leg, event) =>
  leg.state === "APPLIED" && "ticket" in event && event.ticket !== leg.ticket;
// Only an internal leg is attempted again, only after proof that no money moved, and at most MAX_ATTEMPTS times.
const hasAttemptLeft: Condition = ({ attempt }) => attempt < MAX_ATTEMPTS;
const isInternal: Condition = ({ kind }) => LEG_KINDS[kind].origin === "internal";
const isThrottled: Condition = (_leg, event) => event.type === "refused" && event.code === THROTTLED;
/** The other leg was applied already: no service can request this one anew, so it is attempted for days, and then reviewed. */
const isReviewedAtEnd: Condition = ({ kind }) => LEG_KINDS[kind].whenExhausted === "review";
const hasAbsenceLeft: Condition = (leg, event) => isReviewedAtEnd(leg, event) || leg.absences + 1 < MAX_ABSENT_ATTEMPTS;
const wasOpen: Condition = (leg) => cameFrom(leg, "SENDING", "UNKNOWN");
const wasNotApplied: Condition = (leg) => cameFrom(leg, "INTENT", "REFUSED");
const wasApplied: Condition = (leg) => cameFrom(leg, "APPLIED");

const SENT = ["SENDING", "UNKNOWN"] as const;

/**
 * The whole protocol. The first matching rule is applied; without one, the event changes nothing. Only one rule leads to
 * SENDING, and it writes a new permit: no attempt is sent twice. APPLIED leads to REVIEW only.
 */
// prettier-ignore
const TRANSITIONS: readonly TransitionRule[] = [
  // Not sent yet: the leg gets a permit or ends. A deal can only belong to an attempt that was recorded as absent or void.
  { from: ["INTENT"], on: "permit_granted", when: [hasAttemptLeft], to: "SENDING", attempt: "SENDING", writes: ["permit"] },
  { from: ["INTENT"], on: "permit_granted", when: [isReviewedAtEnd], to: "REVIEW", because: "attempts_exhausted", writes: ["finding"] },
  { from: ["INTENT"], on: "permit_granted", when: [], to: "REFUSED", because: "expired", writes: [] },
  { from: ["INTENT"], on: "given_up", when: [], to: "REFUSED", writes: [] },
  { from: ["INTENT"], on: "applied", when: [], to: "REVIEW", because: "deal_after_absence", writes: ["finding"] },
  { from: ["INTENT"], on: "lost_permit_applied", when: [ofLaterAttempt], to: "APPLIED", writes: ["deal", "entry"] },
  { from: ["INTENT"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },

  // A permit was granted: only evidence about that attempt counts. In UNKNOWN the sender may still report the answer
  // that it read: a late answer is as valid as one in time.
  { from: SENT, on: "applied", when: [ofCurrentAttempt], to: "APPLIED", attempt: "APPLIED", writes: ["outcome", "deal", "entry"] },
  { from: SENT, on: "applied", when: [ofLaterAttempt], to: "REVIEW", because: "deal_after_absence", attempt: "ABSENT", writes: ["outcome", "finding"] },
  { from: SENT, on: "applied", when: [ofOtherAttempt], to: "UNMATCHED", writes: ["finding"] },
  // The later attempt was permitted only after the recorded one was proven to have moved no money.
  { from: SENT, on: "lost_permit_applied", when: [ofLaterAttempt], to: "APPLIED", attempt: "ABSENT", writes: ["outcome", "deal", "entry"] },
  { from: SENT, on: "refused", when: [ofCurrentAttempt, isThrottled, isInternal, hasAttemptLeft], to: "INTENT", attempt: "REFUSED", writes: ["outcome", "next_scan"] },
  { from: SENT, on: "refused", when: [ofCurrentAttempt, isThrottled, isReviewedAtEnd], to: "REVIEW", because: "attempts_exhausted", attempt: "REFUSED", writes: ["outcome", "finding"] },
  { from: SENT, on: "refused", when: [ofCurrentAttempt], to: "REFUSED", attempt: "REFUSED", writes: ["outcome"] },
  { from: SENT, on: "not_sent", when: [ofCurrentAttempt, hasAttemptLeft], to: "INTENT", attempt: "VOID", writes: ["outcome", "next_scan"] },
  { from: SENT, on: "not_sent", when: [ofCurrentAttempt, isReviewedAtEnd], to: "REVIEW", because: "attempts_exhausted", attempt: "VOID", writes: ["outcome", "finding"] },
  { from: SENT, on: "not_sent", when: [ofCurrentAttempt], to: "REFUSED", because: "expired", attempt: "VOID", writes: ["outcome"] },
  { from: ["SENDING"], on: "lost", when: [ofCurrentAttempt], to: "UNKNOWN", attempt: "UNKNOWN", writes: ["outcome", "next_scan"] },
  { from: ["UNKNOWN"], on: "proven_absent", when: [ofCurrentAttempt, isInternal, hasAbsenceLeft, hasAttemptLeft], to: "INTENT", attempt: "ABSENT", writes: ["outcome", "next_scan"] },
  { from: ["UNKNOWN"], on: "proven_absent", when: [ofCurrentAttempt, isReviewedAtEnd], to: "REVIEW", because: "attempts_exhausted", attempt: "ABSENT", writes: ["outcome", "finding"] },
  { from: ["UNKNOWN"], on: "proven_absent", when: [ofCurrentAttempt], to: "REFUSED", because: "absent", attempt: "ABSENT", writes: ["outcome"] },
  { from: ["UNKNOWN"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },
  // Operators decide beside the scans when the history cannot be read for hours.
  { from: ["UNKNOWN"], on: "decided_applied", when: [], to: "APPLIED", attempt: "APPLIED", writes: ["outcome", "deal", "entry"] },
  { from: ["UNKNOWN"], on: "decided_refused", when: [], to: "REFUSED", because: "decided", attempt: "ABSENT", writes: ["outcome"] },

  // A result was reported. It is never turned into the opposite; contradicting evidence is sent to manual review.
  { from: ["APPLIED"], on: "applied", when: [ofOtherDeal], to: "UNMATCHED", writes: ["finding"] },
  { from: ["APPLIED"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },
  { from: ["REFUSED"], on: "applied", when: [], to: "REVIEW", because: "deal_after_refusal", writes: ["finding"] },
  { from: ["REFUSED"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },

  // Under manual review: operators decide the outcome, and never the opposite of a reported result.
  { from: ["REVIEW"], on: "decided_applied", when: [wasOpen], to: "APPLIED", attempt: "APPLIED", writes: ["outcome", "deal", "entry"] },
  { from: ["REVIEW"], on: "decided_applied", when: [wasApplied], to: "APPLIED", writes: [] },
  { from: ["REVIEW"], on: "decided_refused", when: [wasOpen], to: "REFUSED", because: "decided", attempt: "ABSENT", writes: ["outcome"] },
  { from: ["REVIEW"], on: "decided_refused", when: [wasNotApplied], to: "REFUSED", because: "decided", writes: [] },
];

/** Decides the transition that an event causes. Pure: `recordTransition` writes it. */
export function applyEvent(leg: Leg, event: LegEvent): Transition {
  const taken = TRANSITIONS.find(
    ({ from, on, when }) => from.includes(leg.state) && on === event.type && when.every((holds) => holds(leg, event)),
  );
  if (taken === undefined) return { kind: "stay" };
  if (taken.to === "UNMATCHED") return { kind: "unmatched", ticket: ticketOf(event) };
  const to = nextLeg(leg, event, taken);
  const { attempt: state, writes } = taken;
  const number = writes.includes("permit") ? to.attempt : leg.attempt;
  return { kind: "move", to, writes, ...(state && { attempt: { number, state } }) };
}

/** Whether any rule for this state handles this type of event. */
export function accepts({ state }: Pick<Leg, "state">, type: LegEvent["type"]): boolean {
  return TRANSITIONS.some(({ from, on }) => from.includes(state) && on === type);
}

function nextLeg(leg: Leg, event: LegEvent, taken: TransitionRule): Leg {
  const { kind } = leg;
  const permitted = leg.attempt + (taken.writes.includes("permit") ? 1 : 0);
  const attempt = event.type === "lost_permit_applied" ? event.attempt : permitted;
  const absences = leg.absences + (event.type === "proven_absent" ? 1 : 0);
  const kept = { kind, attempt, absences };
  switch (taken.to) {
    case "INTENT":
    case "SENDING":
    case "UNKNOWN":
      return { ...kept, state: taken.to };
    case "APPLIED":
      return { ...kept, state: "APPLIED", ticket: ticketOf(event) };
    case "REFUSED":
      return { ...kept, state: "REFUSED", ...refusalOf(event, taken.because) };
    case "REVIEW":
      return { ...kept, state: "REVIEW", ...reviewOf(leg, event, taken.because) };
    case "UNMATCHED":
      return leg;
  }
}

function refusalOf(event: LegEvent, because: RefusalReason | undefined) {
  if (event.type !== "refused") return { reason: event.type === "given_up" ? event.reason : required(because) };
  const reason: RefusalReason = event.code === NO_MONEY ? "insufficient_funds" : "platform_rejected";
  return { reason, platformCode: event.code };
}

/** Reviews of legs whose current attempt has ended without effect: no command is open, so the login is not occupied. */
const WITHOUT_OPEN_COMMAND: ReadonlySet<ReviewReason> = new Set(["attempts_exhausted", "deal_after_absence"]);

function reviewOf(leg: Leg, event: LegEvent, because: ReviewReason | undefined) {
  const reason = event.type === "does_not_fit" ? event.reason : required(because);
  return { reason, cameFrom: WITHOUT_OPEN_COMMAND.has(reason) ? ("INTENT" as const) : reportedState(leg) };
}

function required<Reason>(because: Reason | undefined): Reason {
  if (because === undefined) throw new Error("The transition has no reason.");
  return because;
}

function ticketOf(event: LegEvent): bigint {
  return "ticket" in event ? event.ticket : 0n;
}

function cameFrom(leg: Leg, ...states: readonly LegState[]): boolean {
  return leg.state === "REVIEW" && states.includes(leg.cameFrom);
}
