import { MAX_NOTE_LENGTH, MAX_VOTED_REVIEWS } from "#kernel/values/limits.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { list, model, modelOrNull, read, string, text } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import { opaquePage } from "../../fields/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import { route } from "../../http/route.ts";
import {
  caseId,
  readCaseId,
  readReviewGroup,
  reviewAction,
  REVIEWERS,
  reviewGroup,
  ReviewGroupItem,
  reviewingService,
  ReviewItem,
} from "../schemas/review.ts";
import { requireOperator } from "./reviews.ts";
import { pageOfServices, serviceOf } from "./services.ts";

export const listReviewGroups = pageRoute("GET /api/v1/ops/review-groups", {
  scope: "ops",
  summary: "List open reviews by cause",
  description:
    "The undecided reviews in groups: those of one group have the same reason, and the same action, comment and day of the deals that have caused them, or the day on which they were opened when no deal has. A review about an amount without one such cause is a group of its own. Unreachable services are listed in `unreachable`.",
  returns: "A page of groups.",
  reply: model("ReviewGroupPage", "A page of groups of reviews.", {
    ...opaquePage(ReviewGroupItem, "By service, then ascending by the number of their first review."),
    unreachable: list(reviewingService.of("Name of a service.", "platform"), {
      description: "Services that could not be reached. Their groups are missing from this page.",
    }),
  }),
  call: (deps, { limit }, after, context) =>
    pageOfServices(
      {
        services: REVIEWERS,
        after,
        limit,
        list: (service, part, within) => serviceOf(deps, service).listReviewGroups(part, within),
      },
      context,
    ),
  next: ({ next }) => next,
});

const VoteItem = model("ReviewVote", "The vote on one review of a group.", {
  id: caseId("Id of the review.", "subscription-5"),
  review: modelOrNull(ReviewItem, "The review with the proposal or the decision; null when the vote was not recorded."),
  problem: modelOrNull(
    model("ReviewVoteProblem", "Why the vote on a review was not recorded.", {
      code: string({ description: "Problem code, as of a vote on this review alone.", example: "action_not_possible" }),
      detail: at(
        "message",
        string({ description: "What happened.", example: "The Investor is no longer in this pool." }),
      ),
    }),
    "Why the vote was not recorded; null when it was.",
  ),
});

export const decideReviewGroup = route("POST /api/v1/ops/review-groups", {
  scope: "ops",
  summary: "Approve or propose a decision about a group",
  description: `One vote on up to ${MAX_VOTED_REVIEWS} reviews of a group, as if it was sent for each alone: the key of another owner has to confirm, each vote is in the audit, and each review is decided and carried out by itself, once. The vote counts only for the reviews that are named, and only while they are of this group: one that came later, or that is about something else now, is not decided with them. The answer is 200 when some votes were not recorded; their reviews stay as they are, and may be sent again.`,
  returns: "The vote on each review, in the order of the request.",
  body: {
    group: reviewGroup,
    ids: read(
      text("review_ids", {
        description: `1 to ${MAX_VOTED_REVIEWS} ids of reviews of the group, separated by commas.`,
        example: "subscription-5,subscription-6",
        shown: { pattern: "^[a-z]+-[1-9][0-9]*(,[a-z]+-[1-9][0-9]*)*$" },
      }),
      (ids) => ids.split(","),
    ),
    action: text("review_action", {
      description: "One of the actions of the reviews that names no deal, or withdraw_proposal.",
      example: "adopt",
      shown: reviewAction.shown,
    }),
    note: text("note", {
      description: "Reason. Kept permanently.",
      example: "The dormant fee of January.",
      shown: { minLength: 1, maxLength: MAX_NOTE_LENGTH },
    }),
  },
  reply: model("ReviewVotes", "The votes on reviews of a group.", {
    items: list(VoteItem, { description: "In the order of the request." }),
  }),
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the reviews in GET /api/v1/ops/reviews?group= before sending a new one.",
  refusals: ["platform_unavailable"],
  check: ({ body }) => servicesErrors(body.group, body.ids),

  async call(deps, { group: { service, group }, ids, ...decision }, context) {
    requireOperator(context.client);
    await Promise.all(ids.map((id) => context.auditVote({ reviewId: id, action: decision.action })));
    const reviewIds = ids.map((id) => readCaseId(id).id);
    const { owner: actor, keyId } = context.client;
    const vote = { group, reviewIds, ...decision, actor, keyId };
    const { votes } = await serviceOf(deps, service).decideReviewGroup(vote, context);
    const items = votes.map(({ reviewId: id, review, code, message }) => ({
      service,
      id,
      review: review && { ...review, service },
      problem: code === "" ? undefined : { code, message },
    }));
    return { items };
  },
});

/** Reviews of other services than that of the group. The values may be of any type: what is wrong with them alone is reported by their schemas. */
function servicesErrors(group: unknown, ids: unknown): readonly FieldError[] {
  if (typeof group !== "string" || typeof ids !== "string") return [];
  const { service } = readReviewGroup(group);
  const isOther = (id: string): boolean => REVIEWERS.some((each) => each !== service && id.startsWith(`${each}-`));
  const others = ids.split(",").filter(isOther);
  if (!REVIEWERS.includes(service) || others.length === 0) return [];
  const message = `ids must be reviews of the service of the group: ${others.slice(0, 20).join(", ")}.`;
  return [{ field: "ids", code: "malformed", message }];
}
