import assert from "node:assert/strict";
import { Type } from "typebox";
import { MAX_NOTE_LENGTH } from "#kernel/limits.ts";
import type { FieldError } from "#kernel/refusal.ts";
import { ACTIONS } from "#catalogue/reviews.ts";
import { BOOTSTRAP_ID } from "../../identity/keys/caller.ts";
import { refuse } from "../../problems/refusals.ts";
import { INT64, read, text, textOrNumber } from "../../fields/field.ts";
import { at, or } from "../../fields/message.ts";
import { reviewId, ReviewItem } from "../schemas/review.ts";
import { reviewAction } from "../schemas/review-sets.ts";
import { route, type RouteContext } from "../../http/route.ts";
import { serviceOf } from "./services.ts";

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

export const decideReview = route({
  operationId: "decideReview",
  method: "POST",
  url: "/api/v1/ops/reviews",
  scope: "ops",
  class: "money",
  tag: "Reviews",
  summary: "Approve or propose a review decision",
  description:
    "One API key proposes an action; it is executed when the key of another owner proposes the same. `withdraw_proposal` withdraws a proposal of any key. Every vote is in the audit with its API key before it counts. The bootstrap key cannot decide.",
  returns: "The review with the proposal or the decision.",
  body: Type.Object({
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
  }),
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
