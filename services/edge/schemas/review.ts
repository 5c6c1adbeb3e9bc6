import { type Static, Type } from "typebox";
import { type Review, type ReviewDecision, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { jsonNumber } from "../wire/json-number.ts";
import { moneyText } from "../wire/money.ts";
import { nullableTimestamp, timestamp } from "../wire/timestamp.ts";
import { model, modelOrNull, nullableInteger, nullableString, string } from "./field.ts";
import { nullableTimeReply, timeReply } from "./reply-fields.ts";
import { reviewAction, reviewingService, reviewReason, reviewState } from "./review-sets.ts";

export const REVIEWERS = reviewingService.values;
export type Reviewer = (typeof REVIEWERS)[number];

const STATES = reviewState.values;
type State = (typeof STATES)[number];

const STATE_OF: Readonly<Record<State, ReviewState>> = {
  open: ReviewState.OPEN,
  proposed: ReviewState.PROPOSED,
  decided: ReviewState.DECIDED,
};

const Decision = model("ReviewDecision", "A proposal or a decision.", {
  action: reviewAction.known("Action that is proposed or decided.", "confirm_applied"),
  deal_id: nullableInteger({ description: "Ticket, for actions that name a deal.", example: 1_234_567 }),
  note: string({ description: "Reason that the proposer stated.", example: "Seen in the terminal." }),
  proposed_by: string({ description: "Owner of the API key that proposed it.", example: "anna" }),
  proposed_at: timeReply("When the action was proposed."),
  confirmed_by: nullableString({
    description: "Owner of the API key that approved it; null while it is a proposal.",
    example: null,
  }),
  confirmed_at: nullableTimeReply("When it was approved; null while it is a proposal."),
});

export const ReviewItem = model("Review", "A case for manual review.", {
  id: string({ description: "Review id (service-number).", example: "subscription-5" }),
  reason: reviewReason.known("Why operators have to decide.", "stopped"),
  login: string({ description: "Account concerned; for a stopped Master, its login.", example: "3000001" }),
  amount: nullableString({
    description:
      "Amount in question in USD, signed, two decimals; null when there is none. Of a proposal while there is one, and then of the decision.",
    example: null,
    shown: { pattern: "^-?[0-9]+\\.[0-9]{2}$" },
  }),
  operation_id: nullableString({ description: "Number of the leg in question; null without one.", example: null }),
  reference: nullableString({
    description: "Token at the beginning of the deal's comment; null without one.",
    example: null,
  }),
  deal_id: nullableInteger({ description: "Ticket of the deal in question; null without one.", example: 1_234_567 }),
  evidence: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    additionalProperties: true,
    description: "Known facts; the members depend on the reason. Names that end in _minor are whole cents as text.",
    examples: [{ why: "deal_gone: deal 1234567" }],
  }),
  actions: Type.Array(reviewAction.known("An action.", "resume"), { description: "Actions that are available now." }),
  state: reviewState.of("Review status.", "open"),
  opened_at: timeReply("When the review was opened."),
  decision: modelOrNull(Decision, "The proposal or the decision; null while the review is open."),
});

export function stateOf(text: State | undefined): ReviewState {
  return text === undefined ? ReviewState.UNSPECIFIED : STATE_OF[text];
}

/** `service` keeps the review; numbers of two services may be equal. */
export function reviewItem(service: Reviewer, review: Review): Static<typeof ReviewItem> {
  const { id, reason, login, amount, operationId, reference, dealId, evidence, actions, openedAt, decision } = review;
  return {
    id: `${service}-${id}`,
    reason,
    login,
    amount: amount === undefined ? null : moneyText(amount),
    operation_id: orNull(operationId),
    reference: orNull(reference),
    deal_id: ticketOrNull(dealId),
    evidence: JSON.parse(evidence) as Readonly<Record<string, unknown>>,
    actions,
    state: stateName(review.state),
    opened_at: timestamp(openedAt),
    decision: decision === undefined ? null : decisionItem(decision),
  };
}

/** Of an id that has passed its check. */
export function readReviewId(id: string): { readonly service: Reviewer; readonly reviewId: bigint } {
  const service = REVIEWERS.find((each) => id.startsWith(`${each}-`)) ?? "subscription";
  return { service, reviewId: BigInt(id.slice(service.length + 1)) };
}

function decisionItem(decision: ReviewDecision): Static<typeof Decision> {
  const { action, dealId, note, proposedBy, proposedAt, confirmedBy, confirmedAt } = decision;
  return {
    action,
    deal_id: ticketOrNull(dealId),
    note,
    proposed_by: proposedBy,
    proposed_at: timestamp(proposedAt),
    confirmed_by: orNull(confirmedBy),
    confirmed_at: nullableTimestamp(confirmedAt),
  };
}

function stateName(state: ReviewState): State {
  const name = STATES.find((each) => STATE_OF[each] === state);
  if (name === undefined) throw new Error(`a review has the unknown state ${state}`);
  return name;
}

function orNull(text: string): string | null {
  return text === "" ? null : text;
}

function ticketOrNull(ticket: bigint) {
  return ticket === 0n ? null : jsonNumber(String(ticket));
}
