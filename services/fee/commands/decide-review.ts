import type { CallContext } from "#kernel/contract/contract.ts";
import { afterCommit } from "#kernel/postgres/transaction.ts";
import { recordVote } from "#kernel/review/record-vote.ts";
import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { resumeAfterBreak } from "../store/masters.ts";

/** Records the vote of one API key about a Master whose fees are stopped. */
export async function decideReview(
  { pool, now, wakeSignals }: Pick<Deps, "pool" | "now" | "wakeSignals">,
  request: DecideReviewRequest,
  context: CallContext,
): Promise<DecideReviewResponse> {
  return await recordVote(
    {
      pool,
      now,
      readFacts: async () => undefined,
      examine: async () => undefined,
      async carryOut(tx, { login }) {
        await resumeAfterBreak(tx, login);
        afterCommit(tx, wakeSignals.payments.notify);
        return "done";
      },
    },
    request,
    context,
  );
}
