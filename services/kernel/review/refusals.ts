import { type Refusal, refusalsOf } from "../values/refusal.ts";

/** The refusals of a vote; part of the refusals of every service with reviews. */
export const { refuse, refusals: REVIEW_REFUSALS } = refusalsOf({
  validation_failed: "invalid",
  review_not_found: "not_found",
  review_decided: "conflict",
  action_not_possible: "conflict",
  second_approver_required: "conflict",
  decision_differs: "conflict",
});

/** The proposal that a vote conflicts with. */
type Proposed = { readonly action: string; readonly chosenDealId: bigint; readonly proposedBy: string };

export function actionNotPossible(message: string, possible: readonly string[] = []): Refusal {
  const details: Record<string, string> = possible.length === 0 ? {} : { actions: possible.join(", ") };
  return refuse("action_not_possible", message, { details, outcome: "not_executed" });
}

export function reviewNotFound(id: bigint): Refusal {
  return refuse("review_not_found", `Review ${id} does not exist.`, { outcome: "not_executed" });
}

/** What was shown with the group is not what the review is about now. */
export function otherGroup(): Refusal {
  return actionNotPossible(
    "The review is not of this group any more: what it is about has changed. Decide it by itself.",
  );
}

export function reviewDecided(message: string): Refusal {
  return refuse("review_decided", message, { outcome: "not_executed" });
}

export function secondApproverRequired({ action, proposedBy }: Proposed): Refusal {
  const message = `Action '${action}' was proposed by '${proposedBy}', the owner of this API key. Approval with a key of another owner is required.`;
  return refuse("second_approver_required", message, { outcome: "not_executed" });
}

/** Names the proposal, so that a client that agrees can repeat it. */
export function decisionDiffers({ action, chosenDealId: dealId, proposedBy }: Proposed): Refusal {
  const what = dealId === 0n ? `'${action}'` : `'${action}' with deal ${dealId}`;
  const message = `Action ${what} is already proposed. Approve it by proposing the same, or send withdraw_proposal first.`;
  const details = { proposed_action: action, proposed_deal_id: String(dealId), proposed_by: proposedBy };
  return refuse("decision_differs", message, { details, outcome: "not_executed" });
}
