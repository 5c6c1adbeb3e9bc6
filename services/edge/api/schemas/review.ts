import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import {
  codeOf,
  list,
  model,
  modelOrNull,
  named,
  nullableId,
  nullableString,
  read,
  smallInteger,
  string,
  text,
} from "../../fields/field.ts";
import { at, ofWhole, shown } from "../../fields/message.ts";
import { caseId, evidenceReply, readCaseId } from "./case.ts";
import { nullableDecimalReply, nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { reviewAction, reviewingService, reviewReason, reviewState } from "./review-sets.ts";

export const REVIEWERS = reviewingService.values;
export type Reviewer = (typeof REVIEWERS)[number];

const groupId = (description: string) =>
  ofWhole(
    string({ description, example: "subscription-0123456789abcdef01234567" }),
    ({ service, group }: { readonly service: Reviewer; readonly group: string }) => `${service}-${group}`,
  );

const STATES: Partial<Record<ReviewState, (typeof reviewState.values)[number]>> = {
  [ReviewState.OPEN]: "open",
  [ReviewState.PROPOSED]: "proposed",
  [ReviewState.DECIDED]: "decided",
};

export const stateFilter = read(
  reviewState.of("Only reviews with this status; without it, all open and proposed reviews.", "open"),
  codeOf(STATES),
);

const Decision = model("ReviewDecision", "A proposal or a decision.", {
  action: reviewAction.known("Action that is proposed or decided.", "confirm_applied"),
  deal_id: nullableId({ description: "Ticket, for actions that name a deal.", example: 1_234_567 }),
  note: string({ description: "Reason that the proposer stated.", example: "Seen in the terminal." }),
  proposed_by: string({ description: "Owner of the API key that proposed it.", example: "anna" }),
  proposed_at: timeReply("When the action was proposed."),
  confirmed_by: nullableString({
    description: "Owner of the API key that approved it; null while it is a proposal.",
    example: null,
  }),
  confirmed_at: nullableTimeReply("When it was approved; null while it is a proposal."),
});

const DealCauseItem = model("DealCause", "Deals of one action, comment and day.", {
  action: smallInteger({
    description: "MetaTrader's type of the deals: 2 balance, 4 charge, 5 correction.",
    example: 4,
  }),
  comment: string({ description: "Comment of the deals.", example: "Dormant fee" }),
  day: string({ description: "Day of the deals, in UTC.", example: "2026-01-31" }),
});
const meaningOf = (example: keyof typeof reviewReason.meanings) => {
  const description = "What the reason means, as a sentence; empty for a reason that this version does not know.";
  const meanings: Readonly<Record<string, string>> = reviewReason.meanings;
  const field = string({ description, example: reviewReason.meanings[example] });
  return at(
    "reason",
    shown(field, (reason: string) => meanings[reason] ?? ""),
  );
};
const CAUSE = "The deals that have caused it; null when no deal did, or deals of several kinds.";

export const ReviewItem = model("Review", "A case for manual review.", {
  id: caseId("Review id (service-number).", "subscription-5"),
  reason: reviewReason.known("Why operators have to decide.", "stopped"),
  meaning: meaningOf("stopped"),
  login: string({ description: "Account concerned; for a stopped Master, its login.", example: "3000001" }),
  amount: nullableDecimalReply(
    "Amount in question in USD, signed, two decimals; null when there is none. Of a proposal while there is one, and then of the decision.",
    null,
  ),
  operation_id: nullableString({ description: "Number of the leg in question; null without one.", example: null }),
  reference: nullableString({
    description: "Token at the beginning of the deal's comment; null without one.",
    example: null,
  }),
  deal_id: nullableId({ description: "Ticket of the deal in question; null without one.", example: 1_234_567 }),
  group: groupId("The same for reviews that have one cause: they may be decided together."),
  cause: modelOrNull(DealCauseItem, CAUSE),
  evidence: evidenceReply(
    "Known facts; the members depend on the reason. Names that end in _minor are whole cents as text.",
    {
      why: "deal_gone: deal 1234567",
    },
  ),
  actions: list(reviewAction.known("An action.", "resume"), { description: "Actions that are available now." }),
  state: named(reviewState.of("Review status.", "open"), STATES),
  opened_at: timeReply("When the review was opened."),
  decision: modelOrNull(Decision, "The proposal or the decision; null while the review is open."),
});

export const ReviewGroupItem = model("ReviewGroup", "Undecided reviews that have one cause.", {
  group: groupId("Id of the group."),
  reason: reviewReason.known("Why operators have to decide.", "external_funds_on_investor"),
  meaning: meaningOf("external_funds_on_investor"),
  login: nullableString({
    description: "The only account that they are about; null when there are several.",
    example: null,
    shown: { pattern: "^[1-9][0-9]{0,18}$" },
  }),
  cause: modelOrNull(DealCauseItem, CAUSE),
  open: smallInteger({ description: "Reviews without a proposal.", example: 50 }),
  proposed: smallInteger({ description: "Reviews with a proposal, which another owner has to confirm.", example: 0 }),
  amount: nullableDecimalReply("Sum of their amounts in USD, signed; null when they are about no amounts."),
  lowest: nullableDecimalReply("The lowest amount."),
  highest: nullableDecimalReply("The highest amount."),
  first_review_id: caseId("The review with the lowest number.", "subscription-5"),
  opened_at: timeReply("When the oldest of them was opened."),
});

export const reviewId = (example: string) =>
  read(
    text("review_id", {
      description: "Id of the review.",
      example,
      shown: { pattern: "^(platform|subscription|fee)-[1-9][0-9]{0,17}$" },
    }),
    readCaseId<Reviewer>,
  );

export const reviewGroup = read(
  text("review_group", {
    description: "The group of reviews, as their list has it.",
    example: "subscription-0123456789abcdef01234567",
    shown: { pattern: "^(platform|subscription|fee)-[0-9a-f]{24}$" },
  }),
  readReviewGroup,
);

/** Of a group that has passed its check. */
export function readReviewGroup(id: string): { readonly service: Reviewer; readonly group: string } {
  const [service = "", group = ""] = id.split("-");
  return { service: service as Reviewer, group };
}
