import type { CallContext } from "#kernel/contract/contract.ts";
import { afterCommit } from "#kernel/postgres/transaction.ts";
import { findCase } from "#kernel/review/cases.ts";
import { decideReview as decide } from "#kernel/review/decide-review.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import { isTrouble } from "#kernel/trouble.ts";
import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findMaster, resumeMaster } from "../store/masters.ts";
import { UnreadableJournal } from "./journal-message.ts";
import { readBatch, readPage } from "./read-batch.ts";

const RETRY_AFTER_MS = 1_000;

/**
 * Takes one key's word about a Master whose allocations could not be read on. It is read again only when what follows can
 * be understood now; that is asked before, and the word and its effect are one transaction.
 */
export async function decideReview(
  deps: Deps,
  request: DecideReviewRequest,
  context: CallContext,
): Promise<DecideReviewResponse> {
  const { pool, now, bells } = deps;
  const trouble = await findTrouble(deps, request.reviewId, context);
  return await decide(
    {
      pool,
      now,
      async examine() {
        if (trouble !== undefined) throw actionNotPossible(`the allocations still cannot be read: ${trouble}`);
      },
      async carryOut(tx, { login }) {
        await resumeMaster(tx, login, now());
        afterCommit(tx, bells.reading.ring);
        return "done";
      },
    },
    request,
  );
}

/** Why what follows cannot be read; undefined when it can. */
async function findTrouble(deps: Deps, reviewId: bigint, context: CallContext): Promise<string | undefined> {
  const about = await findCase(deps.pool, reviewId);
  const master = about && (await findMaster(deps.pool, about.login));
  if (master?.stoppedReason === undefined) return undefined;
  try {
    const page = await readPage(deps, master, context);
    if (page !== undefined) await readBatch(deps, master.masterLogin, page, context);
    return undefined;
  } catch (error) {
    if (error instanceof UnreadableJournal) return error.message;
    if (!isTrouble(error)) throw error;
    throw refuse("service_unavailable", "subscription cannot be reached; nothing was decided", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}
