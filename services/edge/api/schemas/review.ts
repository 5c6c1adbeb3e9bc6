import { type Static, Type } from "typebox";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import {
  type DealCause,
  type Review,
  type ReviewDecision,
  type ReviewGroup,
  ReviewState,
} from "#proto/pamm/common/v1/review.ts";
import { jsonNumber } from "../../wire/json-number.ts";
import { moneyText } from "../../wire/money.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { model, modelOrNull, nullableInteger, nullableString, string } from "../../fields/field.ts";
import { nullableDecimalReply, nullableTimeReply, timeReply } from "./reply-fields.ts";
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

export const DealCauseItem = model("DealCause", "Deals of one action, comment and day.", {
  action: Type.Integer({
    description: "MetaTrader's type of the deals: 2 balance, 4 charge, 5 correction.",
    examples: [4],
  }),
  comment: string({ description: "Comment of the deals.", example: "Dormant fee" }),
  day: string({ description: "Day of the deals, in UTC.", example: "2026-01-31" }),
});
const meaningOf = (reason: keyof typeof reviewReason.meanings) =>
  string({
    description: "What the reason means, as a sentence; empty for a reason that this version does not know.",
    example: reviewReason.meanings[reason],
  });
const meaning = (reason: string): string => (reviewReason.meanings as Readonly<Record<string, string>>)[reason] ?? "";
const CAUSE = "The deals that have caused it; null when no deal did, or deals of several kinds.";

export const ReviewItem = model("Review", "A case for manual review.", {
  id: string({ description: "Review id (service-number).", example: "subscription-5" }),
  reason: reviewReason.known("Why operators have to decide.", "stopped"),
  meaning: meaningOf("stopped"),
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
  group: string({
    description: "The same for reviews that have one cause: they may be decided together.",
    example: "subscription-0123456789abcdef01234567",
  }),
  cause: modelOrNull(DealCauseItem, CAUSE),
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

export const ReviewGroupItem = model("ReviewGroup", "Undecided reviews that have one cause.", {
  group: string({ description: "Id of the group.", example: "subscription-0123456789abcdef01234567" }),
  reason: reviewReason.known("Why operators have to decide.", "external_funds_on_investor"),
  meaning: meaningOf("external_funds_on_investor"),
  login: nullableString({
    description: "The only account that they are about; null when there are several.",
    example: null,
    shown: { pattern: "^[1-9][0-9]{0,18}$" },
  }),
  cause: modelOrNull(DealCauseItem, CAUSE),
  open: Type.Integer({ description: "Reviews without a proposal.", examples: [50] }),
  proposed: Type.Integer({
    description: "Reviews with a proposal, which another owner has to confirm.",
    examples: [0],
  }),
  amount: nullableDecimalReply("Sum of their amounts in USD, signed; null when they are about no amounts."),
  lowest: nullableDecimalReply("The lowest amount."),
  highest: nullableDecimalReply("The highest amount."),
  first_review_id: string({ description: "The review with the lowest number.", example: "subscription-5" }),
  opened_at: timeReply("When the oldest of them was opened."),
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
    meaning: meaning(reason),
    login,
    amount: amount === undefined ? null : moneyText(amount),
    operation_id: orNull(operationId),
    reference: orNull(reference),
    deal_id: ticketOrNull(dealId),
    group: `${service}-${review.group}`,
    cause: review.cause ? causeItem(review.cause) : null,
    evidence: JSON.parse(evidence) as Readonly<Record<string, unknown>>,
    actions,
    state: stateName(review.state),
    opened_at: timestamp(openedAt),
    decision: decision === undefined ? null : decisionItem(decision),
  };
}

export function reviewGroupItem(service: Reviewer, found: ReviewGroup): Static<typeof ReviewGroupItem> {
  const { group, reason, login, cause, open, proposed, amount, lowest, highest, id, openedAt } = found;
  const money = (value: Money | undefined) => (value === undefined ? null : moneyText(value));
  return {
    group: `${service}-${group}`,
    reason,
    meaning: meaning(reason),
    login: orNull(login),
    cause: cause ? causeItem(cause) : null,
    open,
    proposed,
    amount: money(amount),
    lowest: money(lowest),
    highest: money(highest),
    first_review_id: `${service}-${id}`,
    opened_at: timestamp(openedAt),
  };
}

function causeItem({ action, comment, day }: DealCause): Static<typeof DealCauseItem> {
  return { action, comment, day };
}

/** Of a group that has passed its check. */
export function readReviewGroup(id: string): { readonly service: Reviewer; readonly group: string } {
  const [service = "", group = ""] = id.split("-");
  return { service: service as Reviewer, group };
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
