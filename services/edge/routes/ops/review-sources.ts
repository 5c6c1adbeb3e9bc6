import type { DecideReviewRequest, DecideReviewResponse, ListReviewsRequest } from "#proto/pamm/common/v1/review.ts";
import type { ListReviewsResponse } from "#proto/pamm/common/v1/review.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Services } from "../../route.ts";

/** Who keeps reviews. */
type Keeper = {
  readonly listReviews: (request: ListReviewsRequest, context: CallContext) => Promise<ListReviewsResponse>;
  readonly decideReview: (request: DecideReviewRequest, context: CallContext) => Promise<DecideReviewResponse>;
};

export const SOURCES = ["platform", "subscription", "fee"] as const;
export type Source = (typeof SOURCES)[number];

export function keeperOf({ platform, subscriptions, fees }: Services, source: Source): Keeper {
  return { platform, subscription: subscriptions, fee: fees }[source];
}

/** Of an id that has passed its check. */
export function placeOf(id: string): { readonly source: Source; readonly reviewId: bigint } {
  const source = SOURCES.find((each) => id.startsWith(`${each}-`)) ?? "subscription";
  return { source, reviewId: BigInt(id.slice(source.length + 1)) };
}
