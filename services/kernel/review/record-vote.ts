import type { DecideReviewRequest, DecideReviewResponse } from "#proto/pamm/common/v1/review.ts";
import type { Clock } from "../clock.ts";
import type { CallContext } from "../contract/contract.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Queryable } from "../postgres/query.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import type { FieldError } from "../refusal.ts";
import type { ReviewCase } from "./case-row.ts";
import { findCase, lockCase, saveReceived } from "./cases.ts";
import { refuse, reviewNotFound } from "./refusals.ts";
import { type Decision, hear, progressAfter, type Word, WITHDRAW_PROPOSAL } from "./review.ts";
import { reviewMessage } from "./review-message.ts";
import { markFinished } from "./unfinished.ts";
import { listReviewEventsUntil } from "./words.ts";

export type Decider<Facts> = {
  readonly pool: Pool;
  readonly now: Clock;
  /** What others have to say about it, before anything is locked. */
  readonly ask: () => Promise<Facts>;
  /**
   * Whether the facts allow the word, for a proposal and again for its confirmation; throws actionNotPossible. The case is
   * locked; what the service locks for it comes after.
   */
  readonly examine: (tx: Transaction, about: ReviewCase, word: Word, facts: Facts) => Promise<void>;
  /**
   * The effect, in the transaction that decides. "done": all of it. "working": a job does the rest, found by listUnfinished,
   * under keys that begin with keyOfReview.
   */
  readonly carryOut: (
    tx: Transaction,
    about: ReviewCase,
    decision: Decision,
    facts: Facts,
  ) => Promise<"done" | "working">;
};

const MAX_NOTE = 1_000;
const ACTION = /^[a-z][a-z_]{0,63}$/;

/** Begins every key under which money moves because of a decision. */
export function keyOfReview(id: bigint): string {
  return `review:${id}:`;
}

/**
 * Takes one key's word about a case, once, however often the same command id brings it. Of two that confirm at once one
 * decides, since the case is locked; the other one is told that it is decided.
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
  const facts = await decider.ask();
  const { reviewId, action, dealId, note, actor } = request;
  return await inTransaction(pool, async (tx) => {
    const about = await lockCase(tx, reviewId);
    if (about === undefined) throw reviewNotFound(reviewId);
    // A copy of this command may have been faster: then it has let go of the case by now.
    const meanwhile = await findAnswer(tx, commandId);
    if (meanwhile !== undefined) return meanwhile;
    const word = { action, dealId, note, actor, at: now() };
    const heard = hear(about.progress, about.actions, word);
    if (action !== WITHDRAW_PROPOSAL) await decider.examine(tx, about, word, facts);
    await saveReceived(tx, { caseId: about.id, commandId }, heard, word);
    if (heard.progress.state === "DECIDED") {
      const effect = await decider.carryOut(tx, about, heard.progress.decision, facts);
      if (effect === "done") await markFinished(tx, about.id, word.at);
    }
    return { review: reviewMessage({ ...about, progress: heard.progress }) };
  });
}

/** What the command was answered when it came the first time: what others have said since does not count. */
async function findAnswer(db: Queryable, commandId: string): Promise<DecideReviewResponse | undefined> {
  const words = await listReviewEventsUntil(db, commandId);
  const about = words[0] && (await findCase(db, words[0].caseId));
  return about && { review: reviewMessage({ ...about, progress: progressAfter(words) }) };
}

function validate({ reviewId, action, dealId, note, actor }: DecideReviewRequest): void {
  const errors: FieldError[] = [];
  if (reviewId <= 0n) errors.push(wrong("review_id", "must be the id of a review"));
  if (!ACTION.test(action)) errors.push(wrong("action", "must be one of the review's actions, or withdraw_proposal"));
  if (dealId < 0n) errors.push(wrong("deal_id", "must be the ticket of a deal"));
  if (note.trim() === "" || note.length > MAX_NOTE) {
    errors.push(wrong("note", `must state the reason in 1 to ${MAX_NOTE} characters`));
  }
  if (actor === "") errors.push(wrong("actor", "must name the API key that decides"));
  if (errors.length === 0) return;
  throw refuse("validation_failed", "The decision is invalid.", { errors, outcome: "not_executed" });
}

function wrong(field: string, problem: string): FieldError {
  return { field, code: "not_valid", message: `${field} ${problem}.` };
}
