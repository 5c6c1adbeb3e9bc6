import { Type } from "typebox";
import type { Static } from "typebox";
import { type Review, type ReviewDecision, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { jsonNumber } from "../wire/json-number.ts";
import { moneyText } from "../wire/money.ts";
import { nullableTimestamp, timestamp } from "../wire/timestamp.ts";
import { choice, nullableInteger, nullableString, string } from "./field.ts";
import { loginReply, nullableTimeReply, timeReply } from "./reply-fields.ts";

/** The parts that keep reviews; their names begin the ids. */
export const REVIEWERS = ["platform", "subscription", "fee"] as const;
export type Reviewer = (typeof REVIEWERS)[number];

const STATES = ["open", "proposed", "decided"] as const;
type State = (typeof STATES)[number];

const STATE_OF: Readonly<Record<State, ReviewState>> = {
  open: ReviewState.OPEN,
  proposed: ReviewState.PROPOSED,
  decided: ReviewState.DECIDED,
};

export const stateFilter = choice(STATES, {
  description: "Only reviews of this state; without it, all that are not decided.",
  example: "open",
});

const Decision = Type.Object({
  action: string({ description: "What is to be done.", example: "resume" }),
  deal_id: nullableInteger({ description: "Ticket, for actions that name a deal.", example: null }),
  note: string({ description: "Why, in the words of whoever proposed it.", example: "Checked with the dealers." }),
  proposed_by: string({ description: "Id of the API key that proposed it.", example: "bootstrap" }),
  proposed_at: timeReply("When it was proposed."),
  confirmed_by: nullableString({
    description: "Id of the other API key; null while it is a proposal.",
    example: null,
  }),
  confirmed_at: nullableTimeReply("When it was confirmed; null while it is a proposal."),
});

export const ReviewItem = Type.Object({
  id: string({ description: "Where it is kept and its number there.", example: "subscription-5" }),
  reason: string({ description: "Stable code of what does not fit.", example: "stopped" }),
  login: loginReply("Account on which it shows; of a stop, the Master."),
  amount: nullableString({ description: "Amount in question in USD, signed; null when there is none.", example: null }),
  operation_id: nullableString({ description: "Money operation in question; null without one.", example: null }),
  reference: nullableString({ description: "Token at the beginning of its deal's comment.", example: null }),
  deal_id: nullableInteger({ description: "Ticket of the deal in question; null without one.", example: 1234567 }),
  evidence: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    additionalProperties: true,
    description: "Everything that is known; its members depend on the reason.",
    examples: [{ why: "deal_gone: deal 1234567" }],
  }),
  actions: Type.Array(string({ description: "Name of an action.", example: "resume" }), {
    description: "What may be decided now.",
  }),
  state: choice(STATES, { description: "How far people have come.", example: "open" }),
  opened_at: timeReply("Since when people are asked."),
  decision: Type.Unsafe<Static<typeof Decision> | null>({
    ...Decision,
    type: ["object", "null"],
    description: "The proposal, or the decision that it became; null while it is open.",
  }),
});

export function stateOf(text: State | undefined): ReviewState {
  return text === undefined ? ReviewState.UNSPECIFIED : STATE_OF[text];
}

/** `service` keeps it; ids of two services may be equal. */
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
export function placeOfReview(id: string): { readonly service: Reviewer; readonly reviewId: bigint } {
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
