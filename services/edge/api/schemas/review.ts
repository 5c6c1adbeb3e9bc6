import { Type } from "typebox";
import { ACTIONS, REASONS } from "#catalogue/reviews.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import {
  byCode,
  codeOf,
  list,
  model,
  modelOrNull,
  named,
  nullableId,
  nullableString,
  read,
  setOf,
  smallInteger,
  string,
  text,
} from "../../fields/field.ts";
import { at, ofWhole, shown } from "../../fields/message.ts";
import { LOGIN, nullableDecimalReply, nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";

/** A review or a break. Numbers of two services may be equal, so the public id begins with the service that keeps it. */
type CaseId<Service> = { readonly service: Service; readonly id: bigint };

export const caseId = (description: string, example: string) =>
  ofWhole(string({ description, example }), ({ service, id }: CaseId<string>) => `${service}-${id}`);

/** Of an id that has passed its check. */
export function readCaseId<Service extends string>(text: string): CaseId<Service> {
  const [service, number = ""] = text.split("-");
  return { service: service as Service, id: BigInt(number) };
}

/** JSON in the message. */
export const evidenceReply = (description: string, example: Readonly<Record<string, unknown>>) =>
  shown<Readonly<Record<string, unknown>>, string>(
    Type.Unsafe({ type: "object", additionalProperties: true, description, examples: [example] }),
    (json) => JSON.parse(json) as Readonly<Record<string, unknown>>,
  );

export const reviewingService = setOf("ReviewingService", "A service that keeps reviews; its name begins their ids.", {
  platform: "Movements on the trading platform, and its accounts.",
  subscription: "Pools of Masters.",
  fee: "Performance fees.",
});

const reviewState = setOf("ReviewState", "Status of a review.", {
  open: "No action is proposed.",
  proposed: "An action is proposed, and another owner of an API key has to confirm it.",
  decided: "The action was confirmed and executed.",
});

export const reviewReason = setOf(
  "ReviewReason",
  "Why operators have to decide. New reasons may be added.",
  meaningsOf(REASONS),
);

export const reviewAction = setOf(
  "ReviewAction",
  "A decision about a review. New actions may be added.",
  meaningsOf(ACTIONS),
);

function meaningsOf<Name extends string>(entries: Readonly<Record<Name, { readonly meaning: string }>>) {
  const meanings = Object.keys(entries).map((name) => [name, entries[name as Name].meaning]);
  return Object.fromEntries(meanings) as Readonly<Record<Name, string>>;
}

export const REVIEWERS = reviewingService.values;
export type Reviewer = (typeof REVIEWERS)[number];

const groupId = (description: string) =>
  ofWhole(
    string({ description, example: "subscription-0123456789abcdef01234567" }),
    ({ service, group }: { readonly service: Reviewer; readonly group: string }) => `${service}-${group}`,
  );

const STATES = byCode(reviewState.values, ReviewState);

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
    ...LOGIN,
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
