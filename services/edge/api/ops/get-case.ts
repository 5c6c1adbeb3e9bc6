import { Type } from "typebox";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { BreakItem, breakId } from "../schemas/break.ts";
import { reviewId, ReviewItem } from "../schemas/review.ts";
import { route } from "../../http/route.ts";
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
  params: Type.Object({ review_id: reviewId("fee-5") }),
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
  params: Type.Object({ break_id: breakId }),
  reply: BreakItem,
  refusals: ["break_not_found"],

  async call(deps, { breakId: { service, id } }, context) {
    const page = { afterId: id - 1n, limit: 1, withoutChecks: true };
    const [first] = (await serviceOf(deps, service).listBreaks(page, context)).items;
    if (first?.id !== id) throw refuse("break_not_found", `There is no open break ${service}-${id}.`);
    return { ...first, service };
  },
});
