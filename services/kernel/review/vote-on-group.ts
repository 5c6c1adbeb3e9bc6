import type {
  DecideReviewGroupRequest,
  DecideReviewGroupResponse,
  DecideReviewRequest,
  DecideReviewResponse,
  ReviewVote,
} from "#proto/pamm/common/v1/review.ts";
import { childContext, remainingMs } from "../contract/context.ts";
import type { CallContext } from "../contract/contract.ts";
import { REPLY_RESERVE_MS } from "../contract/deadlines.ts";
import { MAX_VOTED_REVIEWS } from "../values/limits.ts";
import { Refusal } from "../values/refusal.ts";
import { isTransientFailure } from "../jobs/transient-failure.ts";
import { refuse } from "./refusals.ts";

type Decide = (request: DecideReviewRequest, context: CallContext) => Promise<DecideReviewResponse>;

const NOT_SENT = "The vote was not recorded, because the time of the request was over. Send it again for this review.";

/**
 * The vote of one operator on several cases of a group, each in a transaction of its own: it counts for the cases that are named, and only
 * while they are of the group. A case that refuses it stays as it is. Repeated under its command id, it is recorded where it was not yet.
 */
export async function voteOnGroup(
  decide: Decide,
  { reviewIds, ...vote }: DecideReviewGroupRequest,
  context: CallContext,
): Promise<DecideReviewGroupResponse> {
  if (reviewIds.length < 1 || reviewIds.length > MAX_VOTED_REVIEWS || vote.group === "") {
    throw refuse("validation_failed", `A vote is on 1 to ${MAX_VOTED_REVIEWS} reviews of a group.`, {
      outcome: "not_executed",
    });
  }
  const votes: ReviewVote[] = [];
  for (const reviewId of reviewIds) {
    // One that is sent too late would leave the caller without the answers to those before.
    const isLate = votes.length > 0 && remainingMs(context) < REPLY_RESERVE_MS;
    votes.push(
      isLate
        ? { reviewId, review: undefined, code: "service_unavailable", message: NOT_SENT }
        : await voteOn(decide, { ...vote, reviewId, dealId: 0n }, context, votes),
    );
  }
  return { votes };
}

async function voteOn(
  decide: Decide,
  vote: DecideReviewRequest,
  context: CallContext,
  before: readonly ReviewVote[],
): Promise<ReviewVote> {
  const { reviewId } = vote;
  const commandId = context.commandId === "" ? "" : `${context.commandId}:${reviewId}`;
  try {
    const { review } = await decide(vote, childContext(context, { commandId }));
    return { reviewId, review, code: "", message: "" };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    // Nothing was recorded: the request failed as a whole, and may be repeated under its key.
    if (isTransientFailure(error) && !before.some(({ review }) => review !== undefined)) throw error;
    return { reviewId, review: undefined, code, message };
  }
}
