import type { DecideReviewRequest, Review } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { decideReview } from "../commands/decide-review.ts";
import { aCall, type World } from "./world.ts";

const MAX_REVIEWS = 100;

/** All reviews. */
export async function reviewsOf(world: World): Promise<Review[]> {
  const { items } = await world.service.listReviews({ afterId: 0n, limit: MAX_REVIEWS, state: 0 }, aCall());
  return items;
}

export async function reviewWithReason(world: World, reason: string): Promise<Review> {
  const found = (await reviewsOf(world)).filter((review) => review.reason === reason);
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} reviews have the reason ${reason}`);
  return only;
}

type VoteInput = Pick<DecideReviewRequest, "action" | "actor"> & { readonly dealId?: bigint | undefined };

/** The vote of one API key. */
export async function vote(
  deps: Deps,
  { id }: Pick<Review, "id">,
  { dealId = 0n, ...input }: VoteInput,
): Promise<Review> {
  const keyId = `key of ${input.actor}`;
  const { review } = await decideReview(deps, { reviewId: id, dealId, note: "checked", keyId, ...input }, aCall());
  if (review === undefined) throw new Error("the answer has no review");
  return review;
}

/** The same vote of two API keys. */
export async function decide(world: World, review: Pick<Review, "id">, action: string, dealId = 0n): Promise<Review> {
  await vote(world.deps, review, { action, dealId, actor: "anna" });
  return await vote(world.deps, review, { action, dealId, actor: "boris" });
}
