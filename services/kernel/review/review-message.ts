import { type Review, type ReviewDecision, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { usdToProto } from "../contract/money.ts";
import { causeFrom, type ReviewCase } from "./case-row.ts";
import { possibleActions, type Progress } from "./review.ts";

const STATES: Readonly<Record<Progress["state"], ReviewState>> = {
  OPEN: ReviewState.OPEN,
  PROPOSED: ReviewState.PROPOSED,
  DECIDED: ReviewState.DECIDED,
  OBSOLETE: ReviewState.UNSPECIFIED,
};

/** With another progress, as the case had it after an earlier vote. */
export function reviewMessage(reviewCase: ReviewCase, progress: Progress = reviewCase): Review {
  const { id, reason, login, amount, operationId, reference, dealId, evidence, openedAt, group } = reviewCase;
  return {
    id,
    reason,
    login,
    amount: amount === null ? undefined : usdToProto(amount),
    operationId,
    reference,
    dealId,
    evidence,
    actions: [...possibleActions(progress, reviewCase.actions)],
    state: STATES[progress.state],
    openedAt,
    decision: decisionMessage(progress),
    group,
    cause: causeFrom(reviewCase),
  };
}

function decisionMessage(progress: Progress): ReviewDecision | undefined {
  if (progress.state !== "PROPOSED" && progress.state !== "DECIDED") return undefined;
  const { action, chosenDealId: dealId, note, proposedBy, proposedAt } = progress;
  const confirmation = progress.state === "DECIDED" ? progress : { confirmedBy: "", confirmedAt: undefined };
  const { confirmedBy, confirmedAt } = confirmation;
  return { action, dealId, note, proposedBy, proposedAt, confirmedBy, confirmedAt };
}
