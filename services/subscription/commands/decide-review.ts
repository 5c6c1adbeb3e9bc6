import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { findCase } from "#kernel/review/cases.ts";
import { recordVote } from "#kernel/review/record-vote.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import { allocateExternal } from "../processes/review/allocate-external.ts";
import { compensateDeficit } from "../processes/review/compensate-deficit.ts";
import { acknowledge, adopt } from "../processes/review/external-funds.ts";
import { allocateDeal, resume, resumeWithDifference, transferAgain } from "../processes/review/resume-master.ts";
import { type Effect, expectDollars, readAccounts, type Readings } from "../processes/review/read-accounts.ts";

/** The actions of all reviews about pools. */
const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ["resume", resume],
  ["resume_with_difference", resumeWithDifference],
  ["allocate", allocateExternal],
  ["allocate_deal", allocateDeal],
  ["transfer_again", transferAgain],
  ["adopt", adopt],
  ["acknowledge", acknowledge],
  ["compensate_deficit", compensateDeficit],
]);

/**
 * Records the vote of one API key. Accounts are read before; the vote, its effect and the audit are one transaction, so
 * that a crash leaves all of them or none.
 */
export async function decideReview(
  deps: Deps,
  request: DecideReviewRequest,
  context: CallContext,
): Promise<DecideReviewResponse> {
  const { pool, now } = deps;
  return await recordVote(
    {
      pool,
      now,
      readFacts: () => failAsUnavailable(() => readFor(deps, request, context)),
      async examine(tx, reviewCase, { action, dealId, at }, readings) {
        await effectOf(action).examine?.(tx, { reviewCase, dealId, at, readings });
      },
      async carryOut(tx, reviewCase, { action, chosenDealId: dealId, confirmedAt: at }, readings) {
        await effectOf(action).carryOut(tx, deps, { reviewCase, dealId, at, readings });
        return "done";
      },
    },
    request,
    context,
  );
}

async function readFor(deps: Deps, request: DecideReviewRequest, context: CallContext): Promise<Readings> {
  const reviewCase = await findCase(deps.pool, request.reviewId);
  const effect = EFFECTS.get(request.action);
  if (reviewCase === undefined || effect === undefined) return new Map();
  const { state, actions } = reviewCase;
  const isUndecided = state === "OPEN" || state === "PROPOSED";
  if (!isUndecided || !actions.some((action) => action === request.action)) return new Map();
  const within = queryContext(context);
  await expectDollars(deps, effect.inDollars?.(reviewCase) ?? [], within);
  return await readAccounts(deps, effect.readsOf?.(reviewCase) ?? [], within);
}

function effectOf(action: string): Effect {
  const effect = EFFECTS.get(action);
  if (effect === undefined) throw actionNotPossible(`Action '${action}' does not exist.`);
  return effect;
}
