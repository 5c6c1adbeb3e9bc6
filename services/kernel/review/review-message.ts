import { type Review, type ReviewDecision, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { usdToProto } from "../contract/money.ts";
import type { ReviewCase } from "./case-row.ts";
import { possibleActions, type Progress } from "./review.ts";

const STATES: Readonly<Record<Progress["state"], ReviewState>> = {
  OPEN: ReviewState.OPEN,
  PROPOSED: ReviewState.PROPOSED,
  DECIDED: ReviewState.DECIDED,
  OBSOLETE: ReviewState.UNSPECIFIED,
};

export function reviewMessage(reviewCase: ReviewCase): Review {
  const { id, reason, login, amount, operationId, reference, dealId, evidence, openedAt, progress, group, cause } =
    reviewCase;
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
    cause,
  };
}

function decisionMessage(progress: Progress): ReviewDecision | undefined {
  if (progress.state === "PROPOSED") return { ...progress.proposal, confirmedBy: "", confirmedAt: undefined };
  if (progress.state !== "DECIDED") return undefined;
  const { action, dealId, note, proposedBy, proposedAt, confirmedBy, confirmedAt } = progress.decision;
  return { action, dealId, note, proposedBy, proposedAt, confirmedBy, confirmedAt };
}
