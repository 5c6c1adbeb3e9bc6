import { OPERATION_KINDS } from "./operation-kind.ts";
import type {
  AttemptState,
  Operation,
  OperationEvent,
  OperationState,
  RefusalReason,
  ReviewReason,
  Step,
} from "./operation.ts";
import { MAX_ATTEMPTS } from "./reference.ts";

/** How often an internal operation is sent, counting attempts that were proven absent. */
export const MAX_ABSENT_ATTEMPTS = 3;
/** The platform's "too frequent": surely not executed, and worth another attempt later. */
const THROTTLED = 12;
const NO_MONEY = 10019;

type Refused = { readonly reason: RefusalReason; readonly platformCode?: number };

const STAY: Step = { kind: "stay" };

/** The whole protocol, one state at a time; every step is one compare-and-set on the state that it was decided from. */
export function step(operation: Operation, event: OperationEvent): Step {
  switch (operation.state) {
    case "INTENT":
      return fromIntent(operation, event);
    case "SENDING":
    case "UNKNOWN":
      return fromSent(operation, event);
    case "APPLIED":
      return fromApplied(operation, operation.ticket, event);
    case "REFUSED":
      return fromRefused(operation, event);
    case "REVIEW":
      return fromReview(operation, operation.cameFrom, event);
  }
}

/** Nothing is under way here, so a deal can only belong to an attempt that was given up as absent or void. */
function fromIntent(operation: Operation, event: OperationEvent): Step {
  switch (event.type) {
    case "permit_granted":
      return operation.attempt < MAX_ATTEMPTS
        ? move({ ...carry(operation), attempt: operation.attempt + 1, state: "SENDING" }, "SENDING")
        : exhausted(operation, { reason: "expired" });
    case "given_up":
      return refuse(operation, { reason: event.reason });
    case "applied":
      return review(operation, "deal_after_absence");
    case "does_not_fit":
      return review(operation, event.reason);
    default:
      return STAY;
  }
}

/**
 * A permit was given: only evidence about that attempt leads on. In UNKNOWN the attempt's own sender may still tell what
 * it read, because an answer that arrives late is as true as one in time.
 */
function fromSent(operation: Operation, event: OperationEvent): Step {
  if ("attempt" in event && event.attempt !== operation.attempt) return fromOtherAttempt(event);
  switch (event.type) {
    case "applied":
      return move({ ...carry(operation), state: "APPLIED", ticket: event.ticket }, "APPLIED");
    case "refused":
      return afterRefusal(operation, event.code);
    case "not_sent":
      return again(operation, { reason: "expired" }, "VOID");
    case "lost":
      return operation.state === "SENDING" ? move({ ...carry(operation), state: "UNKNOWN" }, "UNKNOWN") : STAY;
    case "proven_absent":
      return operation.state === "UNKNOWN" ? afterAbsence(operation) : STAY;
    case "does_not_fit":
      return operation.state === "UNKNOWN" ? review(operation, event.reason) : STAY;
    default:
      return STAY;
  }
}

/** The present attempt is under way whatever became of another one, so it must not be taken from its sender. */
function fromOtherAttempt(event: OperationEvent): Step {
  return event.type === "applied" ? { kind: "surplus", ticket: event.ticket } : STAY;
}

function fromApplied(operation: Operation, ticket: bigint, event: OperationEvent): Step {
  switch (event.type) {
    case "applied":
      return event.ticket === ticket ? STAY : { kind: "surplus", ticket: event.ticket };
    case "deal_gone":
      return review(operation, "applied_deal_gone");
    case "does_not_fit":
      return review(operation, event.reason);
    default:
      return STAY;
  }
}

/** A caller was told that nothing happened; a deal that says otherwise is a person's to judge. */
function fromRefused(operation: Operation, event: OperationEvent): Step {
  if (event.type === "applied") return review(operation, "deal_after_refusal");
  return event.type === "does_not_fit" ? review(operation, event.reason) : STAY;
}

/**
 * The machine has stopped touching it: only people lead on. A result that was told is never turned into the other one:
 * the deal behind it stands in the log as foreign, and what they do about it is an operation of its own.
 */
function fromReview(operation: Operation, cameFrom: OperationState, event: OperationEvent): Step {
  const wasOpen = cameFrom === "SENDING" || cameFrom === "UNKNOWN";
  if (event.type === "decided_applied" && (wasOpen || cameFrom === "APPLIED")) {
    return move({ ...carry(operation), state: "APPLIED", ticket: event.ticket }, wasOpen ? "APPLIED" : undefined);
  }
  if (event.type === "decided_refused" && cameFrom !== "APPLIED") {
    return refuse(operation, { reason: "decided" }, wasOpen ? "ABSENT" : undefined);
  }
  return STAY;
}

/** Only an internal operation is attempted again, and only from a proven zero. */
function afterAbsence(operation: Operation): Step {
  const counted = { ...operation, absences: operation.absences + 1 };
  const isLast = OPERATION_KINDS[operation.kind].origin === "external" || counted.absences >= MAX_ABSENT_ATTEMPTS;
  return isLast ? exhausted(counted, { reason: "absent" }, "ABSENT") : again(counted, { reason: "absent" }, "ABSENT");
}

function afterRefusal(operation: Operation, platformCode: number): Step {
  const refusal: Refused = {
    reason: platformCode === NO_MONEY ? "insufficient_funds" : "platform_rejected",
    platformCode,
  };
  return platformCode === THROTTLED && OPERATION_KINDS[operation.kind].origin === "internal"
    ? again(operation, refusal, "REFUSED")
    : refuse(operation, refusal, "REFUSED");
}

/** Back to where a permit can be asked for, under the next attempt's reference, while the reference can count it. */
function again(operation: Operation, refusal: Refused, attempt: AttemptState): Step {
  return operation.attempt < MAX_ATTEMPTS
    ? move({ ...carry(operation), state: "INTENT" }, attempt)
    : exhausted(operation, refusal, attempt);
}

/** Nothing is under way any more when attempts run out, so a review that follows does not occupy the login. */
function exhausted(operation: Operation, refusal: Refused, attempt?: AttemptState): Step {
  return OPERATION_KINDS[operation.kind].whenExhausted === "refuse"
    ? refuse(operation, refusal, attempt)
    : review({ ...carry(operation), state: "INTENT" }, "attempts_exhausted", attempt);
}

function refuse(operation: Operation, refusal: Refused, attempt?: AttemptState): Step {
  return move({ ...carry(operation), state: "REFUSED", ...refusal }, attempt);
}

function review(operation: Operation, reason: ReviewReason, attempt?: AttemptState): Step {
  if (operation.state === "REVIEW") return STAY;
  return move({ ...carry(operation), state: "REVIEW", reason, cameFrom: operation.state }, attempt);
}

function move(to: Operation, attempt?: AttemptState): Step {
  return attempt === undefined
    ? { kind: "move", to }
    : { kind: "move", to, attempt: { number: to.attempt, state: attempt } };
}

/** What an operation keeps whatever its state. */
function carry({ kind, attempt, absences }: Operation): Pick<Operation, "kind" | "attempt" | "absences"> {
  return { kind, attempt, absences };
}
