import { Type } from "typebox";
import type { CallContext } from "#kernel/contract/contract.ts";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { BreakItem, breakItem, readBreakId } from "../schemas/break.ts";
import { text } from "../../fields/field.ts";
import { reviewId } from "../schemas/request-fields.ts";
import { readReviewId, reviewItem, ReviewItem } from "../schemas/review.ts";
import { type Deps, route } from "../../http/route.ts";
import { refuse } from "../../problems/refusals.ts";
import { serviceOf } from "./services.ts";

export const getReview = route({
  operationId: "getReview",
  method: "GET",
  url: "/api/v1/ops/reviews/:review_id",
  scope: "ops",
  class: "read",
  tag: "Reviews",
  summary: "Get a review",
  description:
    "A case for manual review by its id, open, proposed or decided. 404 when there is none: what it was about is gone, so that no decision is needed, or it never existed.",
  returns: "The review.",
  params: Type.Object({
    review_id: reviewId("fee-5"),
  }),
  reply: ReviewItem,
  refusals: ["review_not_found"],

  async handle(deps, { params }, context) {
    const found = await findReview(deps, params.review_id, context);
    if (found === undefined) throw refuse("review_not_found", `Review ${params.review_id} does not exist.`);
    return found;
  },
});

/** The services list their cases by ascending number: the first one from a number is the one that has it, or none has. */
async function findReview(deps: Deps, id: string, context: CallContext) {
  const { service, reviewId } = readReviewId(id);
  const reviewer = serviceOf(deps, service);
  for (const state of [ReviewState.UNSPECIFIED, ReviewState.DECIDED]) {
    const { items } = await reviewer.listReviews({ afterId: reviewId - 1n, limit: 1, state }, context);
    const [first] = items;
    if (first?.id === reviewId) return reviewItem(service, first);
  }
  return undefined;
}

export const getBreak = route({
  operationId: "getBreak",
  method: "GET",
  url: "/api/v1/ops/breaks/:break_id",
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "Get a reconciliation break",
  description:
    "An open break by its id. 404 when there is none: the last run of the check did not find the difference again, or it never existed.",
  returns: "The break.",
  params: Type.Object({
    break_id: text("break_id", {
      description: "Id of the break.",
      example: "fee-17",
      shown: { pattern: "^(platform|subscription|fee|funding)-[1-9][0-9]{0,17}$" },
    }),
  }),
  reply: BreakItem,
  refusals: ["break_not_found"],

  async handle(deps, { params }, context) {
    const { service, number } = readBreakId(params.break_id);
    const page = { afterId: number - 1n, limit: 1, withoutChecks: true };
    const { items } = await serviceOf(deps, service).listBreaks(page, context);
    const [first] = items;
    if (first?.id !== number) throw refuse("break_not_found", `There is no open break ${params.break_id}.`);
    return breakItem(service, first);
  },
});
