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
 * Takes one key's word about a stopped Master. One whose allocations could not be read on is read again only when what
 * follows can be understood now; that is asked before, and the word and its effect are one transaction.
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
      ask: () => findTrouble(deps, request.reviewId, context),
      async examine(_tx, _about, _word, trouble) {
        if (trouble !== undefined) throw actionNotPossible(`The allocations still cannot be read: ${trouble}.`);
      },
      async carryOut(tx, about) {
        const resume = isAboutBreak(about) ? resumeAfterBreak : resumeMaster;
        await resume(tx, about.login, now());
        afterCommit(tx, wakeSignals.reading.notify);
        afterCommit(tx, wakeSignals.payments.notify);
        return "done";
      },
    },
    request,
    context,
  );
}

/** Why what follows cannot be read; undefined when it can, or is not the question. */
async function findTrouble(deps: Deps, reviewId: bigint, context: CallContext): Promise<string | undefined> {
  const about = await findCase(deps.pool, reviewId);
  if (about === undefined || isAboutBreak(about)) return undefined;
  const master = await findMaster(deps.pool, about.login);
  if (master?.stoppedReason === undefined) return undefined;
  try {
    const page = await readPage(deps, master, context);
    if (page !== undefined) await readBatch(deps, master.masterLogin, page, context);
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
