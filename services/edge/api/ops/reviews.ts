import assert from "node:assert/strict";
import { MAX_NOTE_LENGTH } from "#kernel/values/limits.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { ACTIONS } from "#catalogue/reviews.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { INT64, list, model, read, text, textOrNumber } from "../../fields/field.ts";
import { at, optional, or } from "../../fields/message.ts";
import { opaquePage } from "../../fields/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import { route, type RouteContext } from "../../http/route.ts";
import { BOOTSTRAP_ID } from "../../identity/keys/caller.ts";
import { refuse } from "../../problems/refusals.ts";
import { aboutOperationFilter, loginField } from "../schemas/request-fields.ts";
import {
  reviewAction,
  type Reviewer,
  REVIEWERS,
  reviewGroup,
  reviewId,
  reviewingService,
  ReviewItem,
  stateFilter,
} from "../schemas/review.ts";
import { aboutOperation, pageOfServices, serviceOf } from "./services.ts";

export const listReviews = pageRoute("GET /api/v1/ops/reviews", {
  scope: "ops",
  summary: "List open reviews",
  description:
    "Cases for manual review with their evidence and the available actions: movements on the trading platform, then pools, then fees, each ascending by number. Unreachable services are listed in `unreachable`; their reviews are missing. `login` finds the reviews about one account, also the decided ones with `state`. `operation_id` finds those of one operation; one of a whole account or Master is found by it only when it names a deal of the operation. `group` finds those of one cause.",
  returns: "A page of reviews.",
  filter: {
    state: or(stateFilter, ReviewState.UNSPECIFIED),
    login: optional(loginField("Only what is about this account.", "master")),
    operation_id: optional(aboutOperationFilter),
    group: optional(reviewGroup),
  },
  reply: model("ReviewPage", "A page of reviews.", {
    ...opaquePage(ReviewItem, "By service, then ascending by number."),
    unreachable: list(reviewingService.of("Name of a service.", "platform"), {
      description:
        "Services that could not be reached. Their reviews are missing from this page; with `operation_id` also those about movements that only they know.",
    }),
  }),
  refusals: ["operation_not_found", "operation_removed"],

  async call(deps, { operationId, group, limit, ...filter }, after, context) {
    const about = await aboutOperation(deps, operationId, context);
    // Services may have groups of the same number.
    const groupOf = (service: Reviewer) => group && (group.service === service ? group.group : "");
    const { unreachable, ...page } = await pageOfServices(
      {
        services: REVIEWERS,
        after,
        limit,
        list: (service, part, within) =>
          serviceOf(deps, service).listReviews(
            { ...part, ...filter, about: about.names[service], group: groupOf(service) },
            within,
          ),
      },
      context,
    );
    return {
      ...page,
      unreachable: REVIEWERS.filter((service) => [...unreachable, ...about.unreachable].includes(service)),
    };
  },
  next: ({ next }) => next,
});

export const getReview = route("GET /api/v1/ops/reviews/:review_id", {
  scope: "ops",
  summary: "Get a review",
  description:
    "A case for manual review by its id, open, proposed or decided. 404 when there is none: what it was about is gone, so that no decision is needed, or it never existed.",
  returns: "The review.",
  params: { review_id: reviewId("fee-5") },
  reply: ReviewItem,
  refusals: ["review_not_found"],

  /** The services list their cases by ascending number: the first one from a number is the one that has it, or none has. */
  async call(deps, { reviewId: { service, id } }, context) {
    for (const state of [ReviewState.UNSPECIFIED, ReviewState.DECIDED]) {
      const page = { afterId: id - 1n, limit: 1, state };
      const [first] = (await serviceOf(deps, service).listReviews(page, context)).items;
      if (first?.id === id) return { ...first, service };
    }
    throw refuse("review_not_found", `Review ${service}-${id} does not exist.`);
  },
});

/** Operators who know the bootstrap key could create a second key, and decide alone. */
export function requireOperator({ id }: RouteContext["client"]): void {
  if (id !== BOOTSTRAP_ID) return;
  const message = "The bootstrap key cannot decide reviews. Create a key of the scope ops for each operator.";
  throw refuse("insufficient_scope", message, { details: { required_scope: "ops" } });
}

const NAMING_A_DEAL = reviewAction.values.filter((action) => ACTIONS[action].deal !== undefined);

/** The values may be of any type: what is wrong with them alone is reported by their schemas. An action that is not known here is left to its service. */
function dealErrors(action: unknown, dealId: unknown): readonly FieldError[] {
  const isKnown = reviewAction.values.some((known) => known === action && !NAMING_A_DEAL.includes(known));
  if (!isKnown || (typeof dealId !== "string" && typeof dealId !== "number") || Number(dealId) === 0) return [];
  return [
    { field: "deal_id", code: "malformed", message: `deal_id must be left out: ${String(action)} names no deal.` },
  ];
}

export const decideReview = route("POST /api/v1/ops/reviews", {
  scope: "ops",
  summary: "Approve or propose a review decision",
  description:
    "One API key proposes an action; it is executed when the key of another owner proposes the same. `withdraw_proposal` withdraws a proposal of any key. Every vote is in the audit with its API key before it counts. The bootstrap key cannot decide.",
  returns: "The review with the proposal or the decision.",
  body: {
    id: at("review", reviewId("platform-17")),
    action: text("review_action", {
      description: "One of the review's actions, or withdraw_proposal.",
      example: "confirm_applied",
      shown: reviewAction.shown,
    }),
    deal_id: or(
      read(
        textOrNumber("id", {
          description: `Ticket, for the actions ${new Intl.ListFormat("en-GB").format(NAMING_A_DEAL)} only. Digits in a string are accepted too.`,
          example: 1234567,
          shown: { type: "integer", ...INT64, minimum: 0, "x-also-accepts": ["string"] },
        }),
        BigInt,
      ),
      0n,
    ),
    note: text("note", {
      description: "Reason. Kept permanently.",
      example: "Seen in the terminal.",
      shown: { minLength: 1, maxLength: MAX_NOTE_LENGTH },
    }),
  },
  reply: ReviewItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the review in GET /api/v1/ops/reviews before sending a new one.",
  refusals: [
    "review_not_found",
    "review_decided",
    "action_not_possible",
    "second_approver_required",
    "decision_differs",
    "platform_unavailable",
  ],

  check: ({ body }) => dealErrors(body.action, body.deal_id),

  async call(deps, { review: { service, id }, ...decision }, context) {
    requireOperator(context.client);
    const { owner: actor, keyId } = context.client;
    await context.auditVote({ reviewId: `${service}-${id}`, action: decision.action });
    const vote = { reviewId: id, ...decision, actor, keyId };
    const { review } = await serviceOf(deps, service).decideReview(vote, context);
    assert(review !== undefined, "the review is missing in the answer");
    return { ...review, service };
  },
});
