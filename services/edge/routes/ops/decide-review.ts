import assert from "node:assert/strict";
import { Type } from "typebox";
import { MAX_NOTE_LENGTH } from "../../schemas/checks.ts";
import { text, textOrNumber } from "../../schemas/field.ts";
import { placeOfReview, reviewItem, ReviewItem } from "../../schemas/review.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { partOf } from "./services.ts";

export const decideReview = route({
  method: "POST",
  url: "/api/v1/ops/reviews",
  scope: "ops",
  class: "money",
  tag: "Reviews",
  summary: "Say what becomes of a review",
  description:
    "The first API key proposes an action; it is done when another key says the same. `withdraw_proposal` takes a proposal back, whoever made it. Every word is kept with the id of its key.",
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
      description: "Why. Kept for ever.",
      example: "Checked with the dealers.",
      shown: { minLength: 1, maxLength: MAX_NOTE_LENGTH },
    }),
  }),
  reply: ReviewItem,
  refusals: [
    "review_not_found",
    "review_decided",
    "action_not_possible",
    "second_approver_required",
    "decision_differs",
    "platform_unavailable",
  ],

  async handle(deps, { body }, context) {
    const { service, reviewId } = placeOfReview(body.id);
    const { action, note } = body;
    const dealId = BigInt(decimalText(body, "deal_id") ?? 0);
    const said = { reviewId, action, dealId, note, actor: context.key.id };
    const { review } = await partOf(deps, service).decideReview(said, context);
    assert(review !== undefined, "the review is missing in the answer");
    return reviewItem(service, review);
  },
});
