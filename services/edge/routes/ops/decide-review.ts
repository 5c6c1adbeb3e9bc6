import assert from "node:assert/strict";
import { Type } from "typebox";
import { MAX_NOTE_LENGTH } from "#kernel/limits.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { BOOTSTRAP_ID } from "../../keys/auth.ts";
import { refuse } from "../../problems/refusals.ts";
import { text, textOrNumber } from "../../schemas/field.ts";
import { readReviewId, reviewItem, ReviewItem } from "../../schemas/review.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { serviceOf } from "./services.ts";

/** Operators who know the bootstrap key could create a second key, and decide alone. */
function bootstrapCannotDecide(): Refusal {
  const message = "The bootstrap key cannot decide reviews. Create a key of the scope ops for each operator.";
  return refuse("insufficient_scope", message, { details: { required_scope: "ops" } });
}

export const decideReview = route({
  method: "POST",
  url: "/api/v1/ops/reviews",
  scope: "ops",
  class: "money",
  tag: "Reviews",
  summary: "Approve or propose a review decision",
  description:
    "One API key proposes an action; it is executed when the key of another owner proposes the same. `withdraw_proposal` withdraws a proposal of any key. Every vote is in the audit with its API key before it counts. The bootstrap key cannot decide.",
  body: Type.Object({
    id: text("review_id", { description: "Id of the review.", example: "platform-17" }),
    action: text("review_action", {
      description: "One of the review's actions, or withdraw_proposal.",
      example: "confirm_applied",
    }),
    deal_id: Type.Optional(
      textOrNumber("id", {
        description: "Ticket, for actions that name a deal. An integer, or digits in a string.",
        example: 1234567,
        shown: { type: ["integer", "string"] },
      }),
    ),
    note: text("note", {
      description: "Reason. Kept permanently.",
      example: "Checked with the dealers.",
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

  async handle(deps, { body }, context) {
    if (context.client.id === BOOTSTRAP_ID) throw bootstrapCannotDecide();
    const { service, reviewId } = readReviewId(body.id);
    const { action, note } = body;
    const dealId = BigInt(decimalText(body, "deal_id") ?? 0);
    const { owner: actor, keyId } = context.client;
    const decision = { reviewId, action, dealId, note, actor, keyId };
    await context.auditVote({ reviewId: body.id, action });
    const { review } = await serviceOf(deps, service).decideReview(decision, context);
    assert(review !== undefined, "the review is missing in the answer");
    return reviewItem(service, review);
  },
});
