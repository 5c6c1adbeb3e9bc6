import { listReviews as list } from "#kernel/review/list-reviews.ts";
import type { ListReviewsRequest, ListReviewsResponse } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { withEvidence } from "../protocol/reviews/with-evidence.ts";

/** A page of reviews, each with all recorded evidence. */
export async function listReviews({ pool }: Deps, request: ListReviewsRequest): Promise<ListReviewsResponse> {
  const { items, hasMore } = await list(pool, request);
  return { items: await withEvidence(pool, items), hasMore };
}
