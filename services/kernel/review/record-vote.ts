import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import { MAX_NOTE_LENGTH } from "../values/limits.ts";
import type { Clock } from "../values/clock.ts";
import type { CallContext } from "../contract/contract.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Queryable } from "../postgres/query.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import type { FieldError } from "../values/refusal.ts";
import type { ReviewCase } from "./case-row.ts";
import { findCase, lockCase, markFinished, saveVote, listReviewEventsUntil } from "./cases.ts";
import { writtenName } from "./owner.ts";
import { otherGroup, refuse, reviewNotFound } from "./refusals.ts";
import { type Decision, applyVote, progressAfter, type Vote, WITHDRAW_PROPOSAL, VOTES_UNCONFIRMED } from "./review.ts";
import { reviewMessage } from "./review-message.ts";

export type Decider<Facts> = {
  readonly pool: Pool;
  readonly now: Clock;
  /** Reads the facts that other services know, before anything is locked. */
  readonly readFacts: () => Promise<Facts>;
  /**
   * Checks that the facts allow the vote, for a proposal and again for its confirmation; throws actionNotPossible. The case
   * is locked; the service locks its own rows after it.
   */
  readonly examine: (tx: Transaction, reviewCase: ReviewCase, vote: Vote, facts: Facts) => Promise<void>;
  /**
   * Carries out the decision, in the transaction that records it afterwards. "done": completely. "working": a job that uses
   * listUnfinished does the rest, under keys that begin with keyOfReview.
   */
  readonly carryOut: (
    tx: Transaction,
    reviewCase: ReviewCase,
    decision: Decision,
    facts: Facts,
  ) => Promise<"done" | "working">;
};

const ACTION = /^[a-z][a-z_]{0,63}$/;

/** The prefix of every key under which a decision moves money. */
export function keyOfReview(id: bigint): string {
  return `review:${id}:`;
}

/**
 * Records the vote of one operator on a case, once per command id. The case is locked, so of two simultaneous confirmations
 * one decides and the other is refused with review_decided.
 */
export async function recordVote<Facts>(
  decider: Decider<Facts>,
  request: DecideReviewRequest,
  { commandId }: Pick<CallContext, "commandId">,
): Promise<DecideReviewResponse> {
  const { pool, now } = decider;
  validate(request);
  const before = await findAnswer(pool, commandId);
  if (before !== undefined) return before;
  const facts = await decider.readFacts();
  const { reviewId, action, dealId, note, actor, keyId, group } = request;
  return await inTransaction(pool, async (tx) => {
    const reviewCase = await lockCase(tx, reviewId);
    if (reviewCase === undefined) throw reviewNotFound(reviewId);
    // A duplicate of this command may have held the lock before, and committed.
    const duplicate = await findAnswer(tx, commandId);
    if (duplicate !== undefined) return duplicate;
    if (group !== undefined && group !== reviewCase.group) throw otherGroup();
    const vote = { action, dealId, note, actor, keyId, at: now() };
    const applied = applyVote(reviewCase, reviewCase.actions, vote);
    // About a decision, not about the rows of the service: it changes nothing there.
    const isUnconfirmed = reviewCase.reason === VOTES_UNCONFIRMED;
    if (action !== WITHDRAW_PROPOSAL && !isUnconfirmed) await decider.examine(tx, reviewCase, vote, facts);
    const { progress } = applied;
    const carryOut = async (decision: Decision) =>
      isUnconfirmed ? "done" : await decider.carryOut(tx, reviewCase, decision, facts);
    // Before the decision is saved, which publishes the amount that it was carried out for.
    const effect = progress.state === "DECIDED" ? await carryOut(progress) : undefined;
    const amount = await saveVote(tx, { caseId: reviewCase.id, commandId }, applied, vote);
    if (effect === "done") await markFinished(tx, reviewCase.id, vote.at);
    return { review: reviewMessage({ ...reviewCase, amount }, progress) };
  });
}

/** The response to the first call with the command id, without the effect of later votes. */
async function findAnswer(db: Queryable, commandId: string): Promise<DecideReviewResponse | undefined> {
  const events = await listReviewEventsUntil(db, commandId);
  const reviewCase = events[0] && (await findCase(db, events[0].caseId));
  return reviewCase && { review: reviewMessage(reviewCase, progressAfter(events)) };
}

function validate({ reviewId, action, dealId, note, actor, keyId }: DecideReviewRequest): void {
  const errors: FieldError[] = [];
  if (reviewId <= 0n) errors.push(wrong("review_id", "must be the id of a review"));
  if (!ACTION.test(action)) errors.push(wrong("action", "must be one of the review's actions, or withdraw_proposal"));
  if (dealId < 0n) errors.push(wrong("deal_id", "must be the ticket of a deal"));
  if (note.trim() === "" || note.length > MAX_NOTE_LENGTH) {
    errors.push(wrong("note", `must state the reason in 1 to ${MAX_NOTE_LENGTH} characters`));
  }
  if (writtenName(actor) === "") errors.push(wrong("actor", "must name the owner of the API key that decides"));
  if (keyId === "") errors.push(wrong("key_id", "must be the id of the API key that decides"));
  if (errors.length === 0) return;
  throw refuse("validation_failed", "The decision is invalid.", { errors, outcome: "not_executed" });
}

function wrong(field: string, problem: string): FieldError {
  return { field, code: "not_valid", message: `${field} ${problem}.` };
}
