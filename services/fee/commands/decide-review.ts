import type { CallContext } from "#kernel/contract/contract.ts";
import { afterCommit } from "#kernel/postgres/transaction.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { findCase } from "#kernel/review/cases.ts";
import { recordVote } from "#kernel/review/record-vote.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findMaster, resumeAfterBreak, resumeMaster } from "../store/masters.ts";
import { UnreadableJournal } from "../messages/journal.ts";
import { readBatch, readPage } from "../processes/accounting/read-batch.ts";
import { isAboutBreak } from "../processes/stop-for-break.ts";

/**
 * Records the vote of one API key about a stopped Master. A Master with unreadable allocations is resumed only when its next
 * batch can be read now, which is checked before the transaction of the vote and its effect.
 */
export async function decideReview(
  deps: Deps,
  request: DecideReviewRequest,
  context: CallContext,
): Promise<DecideReviewResponse> {
  const { pool, now, wakeSignals } = deps;
  return await recordVote(
    {
      pool,
      now,
      readFacts: () => findReadFault(deps, request.reviewId, context),
      async examine(_tx, _reviewCase, _vote, fault) {
        if (fault !== undefined) throw actionNotPossible(`The allocations still cannot be read: ${fault}.`);
      },
      async carryOut(tx, reviewCase) {
        const resume = isAboutBreak(reviewCase) ? resumeAfterBreak : resumeMaster;
        await resume(tx, reviewCase.login);
        afterCommit(tx, wakeSignals.reading.notify);
        afterCommit(tx, wakeSignals.payments.notify);
        return "done";
      },
    },
    request,
    context,
  );
}

/** Why the next allocations cannot be read; undefined when they can, or when the review is about a break. */
async function findReadFault(deps: Deps, reviewId: bigint, context: CallContext): Promise<string | undefined> {
  const reviewCase = await findCase(deps.pool, reviewId);
  if (reviewCase === undefined || isAboutBreak(reviewCase)) return undefined;
  const master = await findMaster(deps.pool, reviewCase.login);
  if (master?.stoppedReason === undefined) return undefined;
  try {
    const { entries } = await readPage(deps, master, context);
    const { masterLogin, read } = master;
    if (entries.length > 0) await readBatch(deps, { masterLogin, after: read }, entries, context);
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableJournal) return error.message;
    if (!isTransientFailure(error)) throw error;
    throw refuse("service_unavailable", "The service subscription cannot be reached. Nothing was decided.", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}
