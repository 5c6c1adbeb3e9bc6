import { OPERATION_KINDS } from "./operation-kind.ts";
import {
  type AttemptState,
  type Operation,
  type OperationEvent,
  type OperationState,
  type RefusalReason,
  type ReviewReason,
  type Step,
  told,
  type Written,
} from "./operation.ts";

/** How often an internal operation is sent, counting attempts that were proven absent. */
export const MAX_ABSENT_ATTEMPTS = 3;
/** The attempt is one character of the reference. */
export const MAX_ATTEMPTS = 31;
/** The platform's "too frequent": surely not executed, and worth another attempt later. */
const THROTTLED = 12;
const NO_MONEY = 10019;

export type Transition = {
  readonly from: readonly OperationState[];
  readonly on: OperationEvent["type"];
  /** All of them hold. */
  readonly when: readonly Condition[];
  /** What the present attempt, or the one that begins, is from now on. */
  readonly attempt?: AttemptState;
  readonly writes: readonly Written[];
} & Arrival;

/** Where it leads; `because` where the event does not say why. SURPLUS leaves the operation: its deal is one too many. */
type Arrival =
  | { readonly to: "INTENT" | "SENDING" | "UNKNOWN" | "APPLIED" | "UNMATCHED" }
  | { readonly to: "REFUSED"; readonly because?: RefusalReason }
  | { readonly to: "REVIEW"; readonly because?: ReviewReason };

type Condition = (operation: Operation, event: OperationEvent) => boolean;

// Evidence speaks of one attempt. Whatever becomes of another one, the present one must not be taken from its sender.
const ofPresent: Condition = ({ attempt }, event) => "attempt" in event && event.attempt === attempt;
const ofAnother: Condition = (operation, event) => !ofPresent(operation, event);
const ofAnotherDeal: Condition = (operation, event) =>
  operation.state === "APPLIED" && "ticket" in event && event.ticket !== operation.ticket;
// Only an internal operation is attempted again, only from a proven zero, and while its reference can count it.
const canCount: Condition = ({ attempt }) => attempt < MAX_ATTEMPTS;
const isInternal: Condition = ({ kind }) => OPERATION_KINDS[kind].origin === "internal";
const isThrottled: Condition = (_operation, event) => event.type === "refused" && event.code === THROTTLED;
const hasAbsenceLeft: Condition = ({ absences }) => absences + 1 < MAX_ABSENT_ATTEMPTS;
/** Money is half-way, so that the end of all attempts needs manual review. */
const isHalfWay: Condition = ({ kind }) => OPERATION_KINDS[kind].whenExhausted === "review";
const wasOpen: Condition = (operation) => cameFrom(operation, "SENDING", "UNKNOWN");
const wasNotApplied: Condition = (operation) => cameFrom(operation, "INTENT", "REFUSED");
const wasApplied: Condition = (operation) => cameFrom(operation, "APPLIED");

const SENT = ["SENDING", "UNKNOWN"] as const;

/**
 * The whole protocol. The first row that fits is taken; where none fits, the event changes nothing. SENDING has one way
 * in, and it writes a new permit: nothing here sends an attempt twice. APPLIED has one way out, to people.
 */
// prettier-ignore
export const TRANSITIONS: readonly Transition[] = [
  // Nobody has sent: the permit, or the end. A deal can only belong to an attempt that was given up as absent or void.
  { from: ["INTENT"], on: "permit_granted", when: [canCount], to: "SENDING", attempt: "SENDING", writes: ["permit"] },
  { from: ["INTENT"], on: "permit_granted", when: [isHalfWay], to: "REVIEW", because: "attempts_exhausted", writes: ["finding"] },
  { from: ["INTENT"], on: "permit_granted", when: [], to: "REFUSED", because: "expired", writes: [] },
  { from: ["INTENT"], on: "given_up", when: [], to: "REFUSED", writes: [] },
  { from: ["INTENT"], on: "applied", when: [], to: "REVIEW", because: "deal_after_absence", writes: ["finding"] },
  { from: ["INTENT"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },

  // A permit was given: only evidence about that attempt leads on. In UNKNOWN the attempt's own sender may still tell what
  // it read, because an answer that arrives late is as true as one in time.
  { from: SENT, on: "applied", when: [ofPresent], to: "APPLIED", attempt: "APPLIED", writes: ["fate", "deal", "entry", "next_scan"] },
  { from: SENT, on: "applied", when: [ofAnother], to: "UNMATCHED", writes: ["finding"] },
  { from: SENT, on: "refused", when: [ofPresent, isThrottled, isInternal, canCount], to: "INTENT", attempt: "REFUSED", writes: ["fate", "next_scan"] },
  { from: SENT, on: "refused", when: [ofPresent, isThrottled, isHalfWay], to: "REVIEW", because: "attempts_exhausted", attempt: "REFUSED", writes: ["fate", "finding"] },
  { from: SENT, on: "refused", when: [ofPresent], to: "REFUSED", attempt: "REFUSED", writes: ["fate"] },
  { from: SENT, on: "not_sent", when: [ofPresent, canCount], to: "INTENT", attempt: "VOID", writes: ["fate", "next_scan"] },
  { from: SENT, on: "not_sent", when: [ofPresent, isHalfWay], to: "REVIEW", because: "attempts_exhausted", attempt: "VOID", writes: ["fate", "finding"] },
  { from: SENT, on: "not_sent", when: [ofPresent], to: "REFUSED", because: "expired", attempt: "VOID", writes: ["fate"] },
  { from: ["SENDING"], on: "lost", when: [ofPresent], to: "UNKNOWN", attempt: "UNKNOWN", writes: ["fate", "next_scan"] },
  { from: ["UNKNOWN"], on: "proven_absent", when: [ofPresent, isInternal, hasAbsenceLeft, canCount], to: "INTENT", attempt: "ABSENT", writes: ["fate", "next_scan"] },
  { from: ["UNKNOWN"], on: "proven_absent", when: [ofPresent, isHalfWay], to: "REVIEW", because: "attempts_exhausted", attempt: "ABSENT", writes: ["fate", "finding"] },
  { from: ["UNKNOWN"], on: "proven_absent", when: [ofPresent], to: "REFUSED", because: "absent", attempt: "ABSENT", writes: ["fate"] },
  { from: ["UNKNOWN"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },

  // A result was told. It is never turned into the other one; what speaks against it is for people.
  { from: ["APPLIED"], on: "applied", when: [ofAnotherDeal], to: "UNMATCHED", writes: ["finding"] },
  { from: ["APPLIED"], on: "deal_gone", when: [], to: "REVIEW", because: "applied_deal_gone", writes: ["finding"] },
  { from: ["APPLIED"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },
  { from: ["REFUSED"], on: "applied", when: [], to: "REVIEW", because: "deal_after_refusal", writes: ["finding"] },
  { from: ["REFUSED"], on: "does_not_fit", when: [], to: "REVIEW", writes: ["finding"] },

  // The machine has stopped touching it: people say what it was, and never the opposite of what was told.
  { from: ["REVIEW"], on: "decided_applied", when: [wasOpen], to: "APPLIED", attempt: "APPLIED", writes: ["fate", "deal", "entry", "next_scan"] },
  { from: ["REVIEW"], on: "decided_applied", when: [wasApplied], to: "APPLIED", writes: [] },
  { from: ["REVIEW"], on: "decided_refused", when: [wasOpen], to: "REFUSED", because: "decided", attempt: "ABSENT", writes: ["fate"] },
  { from: ["REVIEW"], on: "decided_refused", when: [wasNotApplied], to: "REFUSED", because: "decided", writes: [] },
];

/** What an event does to an operation. */
export function step(operation: Operation, event: OperationEvent): Step {
  const taken = TRANSITIONS.find(
    ({ from, on, when }) =>
      from.includes(operation.state) && on === event.type && when.every((holds) => holds(operation, event)),
  );
  if (taken === undefined) return { kind: "stay" };
  if (taken.to === "UNMATCHED") return { kind: "unmatched", ticket: ticketOf(event) };
  const to = arrive(operation, event, taken);
  const { attempt, writes } = taken;
  return { kind: "move", to, writes, ...(attempt && { attempt: { number: to.attempt, state: attempt } }) };
}

/** Whether an operation that stands like this could do anything with such an event. */
export function accepts({ state }: Pick<Operation, "state">, type: OperationEvent["type"]): boolean {
  return TRANSITIONS.some(({ from, on }) => from.includes(state) && on === type);
}

function arrive(operation: Operation, event: OperationEvent, taken: Transition): Operation {
  const { kind } = operation;
  const attempt = operation.attempt + (taken.writes.includes("permit") ? 1 : 0);
  const absences = operation.absences + (event.type === "proven_absent" ? 1 : 0);
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
      return { ...kept, state: "REVIEW", ...reviewOf(operation, event, taken.because) };
    case "UNMATCHED":
      return operation;
  }
}

function refusalOf(event: OperationEvent, because: RefusalReason | undefined) {
  if (event.type !== "refused") return { reason: event.type === "given_up" ? event.reason : stated(because) };
  const reason: RefusalReason = event.code === NO_MONEY ? "insufficient_funds" : "platform_rejected";
  return { reason, platformCode: event.code };
}

/** Nothing is under way any more when attempts run out, so a review that follows does not occupy the login. */
function reviewOf(operation: Operation, event: OperationEvent, because: ReviewReason | undefined) {
  const reason = event.type === "does_not_fit" ? event.reason : stated(because);
  return { reason, cameFrom: reason === "attempts_exhausted" ? ("INTENT" as const) : told(operation) };
}

function stated<Reason>(because: Reason | undefined): Reason {
  if (because === undefined) throw new Error("a transition has to say why");
  return because;
}

function ticketOf(event: OperationEvent): bigint {
  return "ticket" in event ? event.ticket : 0n;
}

function cameFrom(operation: Operation, ...states: readonly OperationState[]): boolean {
  return operation.state === "REVIEW" && states.includes(operation.cameFrom);
}
