import type { CallContext } from "#kernel/contract/contract.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { findCase } from "#kernel/review/cases.ts";
import { recordVote } from "#kernel/review/record-vote.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Decision, Vote } from "#kernel/review/review.ts";
import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import type { Deps } from "../deps.ts";
import type { Deal } from "../mt5/deals.ts";
import { legNumber } from "../domain/leg-number.ts";
import { correctLog, readCorrection, requireCorrection } from "../amendments/amendments.ts";
import { ACCOUNT_STOPPED, OTHER_ACCOUNT, STILL_NOT_APPLIED, STILL_UNKNOWN } from "../domain/review-actions.ts";
import { acceptReplaced } from "../protocol/replaced-account.ts";
import {
  confirmApplied,
  confirmNotApplied,
  keepApplied,
  requireOpenReview,
  requireDealOfLeg,
  requireSupportedCurrency,
  requireUnscannable,
  requireWaitingLeg,
  retryLeg,
} from "../protocol/reviews/decide-leg.ts";
import { findReversalMinor, orderReversal } from "../protocol/reviews/reverse-deal.ts";
import { resumeAll } from "../protocol/reviews/resume-all.ts";
import { withEvidence } from "../protocol/reviews/with-evidence.ts";
import type { Facts } from "../protocol/history/read-facts.ts";
import { readUnscannable, type Unscannable } from "../protocol/scan-leg.ts";
import { orBusy, orUnavailable } from "../protocol/unavailable.ts";
import { readClock } from "../store/clock.ts";
import { resumeAccount } from "../store/account-stops.ts";

/**
 * Records the vote of one client about a review. The platform is read first; the vote and its effect are one transaction,
 * so that a crash leaves both or neither. A reversal continues as a leg under a key of the review.
 */
export async function decideReview(
  deps: Deps,
  request: DecideReviewRequest,
  context: CallContext,
): Promise<DecideReviewResponse> {
  const { pool } = deps;
  const at = new Date(await readClock(pool));
  const decider = { pool, now: () => at, readFacts: () => readPlatform(deps, request), examine, carryOut };
  const { review } = await orBusy(recordVote(decider, request, context));
  if (review !== undefined) {
    deps.loginSignals.notify(review.login);
    deps.freshDeals.add(review.login);
    deps.legsSignal.notify();
  }
  return { review: review && (await withEvidence(pool, [review]))[0] };
}

type PlatformState = {
  readonly server: string;
  readonly quietPeriodMs: number;
  readonly shown: Deal | undefined;
  /** Of the account whose log is corrected; undefined for another action. */
  readonly facts: Facts | undefined;
  /** Of a leg of unknown outcome that is decided to have moved no money. */
  readonly unscannable: Unscannable | undefined;
};

/** The deal that the vote names, or the account whose log it corrects, as the platform shows it. */
async function readPlatform(deps: Deps, { reviewId, action, dealId }: DecideReviewRequest): Promise<PlatformState> {
  const isAboutDeal = action === "confirm_applied" && dealId > 0n;
  const shown = isAboutDeal ? await orUnavailable(deps.mt5.getDeal(dealId)) : undefined;
  const facts = action === "correct_log" ? await orBusy(readCorrection(deps, reviewId)) : undefined;
  const unscannable = action === "confirm_not_applied" ? await readUnknownLeg(deps, reviewId) : undefined;
  const { server, quietPeriodMs } = deps.settings;
  return { server, quietPeriodMs, shown, facts, unscannable };
}

async function readUnknownLeg(deps: Deps, reviewId: bigint): Promise<Unscannable | undefined> {
  const reviewCase = await findCase(deps.pool, reviewId);
  if (reviewCase?.reason !== STILL_UNKNOWN) return undefined;
  return await orUnavailable(readUnscannable(deps, legNumber(BigInt(reviewCase.operationId))));
}

async function examine(
  tx: Transaction,
  reviewCase: ReviewCase,
  { action, dealId }: Vote,
  seen: PlatformState,
): Promise<void> {
  if (action !== "confirm_applied" && dealId !== 0n) {
    throw actionNotPossible(`Action '${action}' does not take a deal_id.`);
  }
  switch (action) {
    case "confirm_applied":
      return await requireDealOfLeg(tx, reviewCase, { ...seen, dealId });
    case "resume":
      return await requireSupportedCurrency(tx, reviewCase);
    case "retry":
      return void (await requireWaitingLeg(tx, reviewCase));
    case "confirm_not_applied":
      return await requireLegOf(tx, reviewCase, seen);
    case "reverse":
      return void (await findReversalMinor(tx, seen.server, reviewCase));
    case "correct_log":
      return void (await requireCorrection(tx, reviewCase, present(seen.facts)));
    default:
  }
}

async function requireLegOf(tx: Transaction, reviewCase: ReviewCase, { unscannable }: PlatformState): Promise<void> {
  switch (reviewCase.reason) {
    case STILL_NOT_APPLIED:
      return void (await requireWaitingLeg(tx, reviewCase));
    case STILL_UNKNOWN:
      return await requireUnscannable(tx, reviewCase, unscannable);
    default:
      await requireOpenReview(tx, reviewCase);
  }
}

async function carryOut(
  tx: Transaction,
  reviewCase: ReviewCase,
  { action, chosenDealId: dealId }: Decision,
  { server, quietPeriodMs, shown, facts }: PlatformState,
): Promise<"done" | "working"> {
  switch (action) {
    case "confirm_applied":
      await confirmApplied(tx, reviewCase, { server, ticket: dealId, at: shown?.at });
      return "done";
    case "retry":
      await retryLeg(tx, reviewCase);
      return "done";
    case "confirm_not_applied":
      await confirmNotApplied(tx, reviewCase, server);
      return "done";
    case "reverse":
      await keepApplied(tx, reviewCase, server);
      await orderReversal(tx, server, reviewCase);
      return "working";
    case "resume":
      await resume(tx, reviewCase, quietPeriodMs);
      return "done";
    case "correct_log":
      await correctLog(tx, reviewCase, { facts: present(facts), server, quietPeriodMs });
      return "done";
    default:
      await keepApplied(tx, reviewCase, server);
      return "done";
  }
}

async function resume(tx: Transaction, { reason, login }: ReviewCase, quietPeriodMs: number): Promise<void> {
  switch (reason) {
    case ACCOUNT_STOPPED:
      return await resumeAccount(tx, login);
    case OTHER_ACCOUNT:
      return await acceptReplaced(tx, login);
    default:
      await resumeAll(tx, quietPeriodMs);
  }
}

/** Refuses when another vote changed the review after the platform was read. */
function present(facts: Facts | undefined): Facts {
  if (facts === undefined) {
    throw actionNotPossible("The review changed in the meantime. Read it again before deciding.");
  }
  return facts;
}
