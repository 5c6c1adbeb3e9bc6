import { isSameOwner } from "./owner.ts";
import { actionNotPossible, decisionDiffers, reviewDecided, secondApproverRequired } from "./refusals.ts";

/** Withdraws a proposal; any operator may do this. */
export const WITHDRAW_PROPOSAL = "withdraw_proposal";

/** The vote of one operator on a case. */
export type Vote = {
  readonly action: string;
  /** Ticket, for actions that name a deal; 0 otherwise. */
  readonly dealId: bigint;
  readonly note: string;
  /** Name of the owner of the API key. */
  readonly actor: string;
  /** Public id of that key. */
  readonly keyId: string;
  readonly at: Date;
};

export type Proposal = {
  readonly action: string;
  /** The deal that the vote names. */
  readonly chosenDealId: bigint;
  readonly note: string;
  readonly proposedBy: string;
  readonly proposedAt: Date;
};

export type Decision = Proposal & {
  readonly confirmedNote: string;
  readonly confirmedBy: string;
  readonly confirmedAt: Date;
};

/** How far the decision of a case is. OBSOLETE: its subject no longer exists, so it needs no decision. */
export type Progress =
  | { readonly state: "OPEN" | "OBSOLETE" }
  | ({ readonly state: "PROPOSED" } & Proposal)
  | ({ readonly state: "DECIDED" } & Decision);

/** The effect of a vote, and the event under which the audit records it. */
export type AppliedVote = {
  readonly event: "PROPOSED" | "WITHDRAWN" | "CONFIRMED";
  readonly progress: Progress;
};

/** An event as the audit records it. VOIDED: no vote; the service voided a proposal because its facts changed. */
export type ReviewEvent = Vote & { readonly event: AppliedVote["event"] | "VOIDED" };

/**
 * Four-eyes approval: one operator proposes, and a second one who votes for the same decides. Every other vote is refused
 * and changes nothing. `actions` are the actions that the case allows.
 */
export function applyVote(progress: Progress, actions: readonly string[], vote: Vote): AppliedVote {
  if (progress.state === "OBSOLETE") {
    throw reviewDecided("The review is closed because its subject no longer exists. No decision is needed.");
  }
  if (progress.state === "DECIDED") {
    throw reviewDecided(`The review is already decided: '${progress.action}'.`);
  }
  if (vote.action === WITHDRAW_PROPOSAL) return withdraw(progress);
  if (progress.state === "PROPOSED") return { event: "CONFIRMED", progress: confirm(progress, vote) };
  if (!actions.includes(vote.action)) {
    throw actionNotPossible(
      `Action '${vote.action}' is not available now. Available: ${actions.join(", ") || "none"}.`,
      actions,
    );
  }
  return { event: "PROPOSED", progress: propose(vote) };
}

function propose({ action, dealId: chosenDealId, note, actor: proposedBy, at: proposedAt }: Vote): Progress {
  return { state: "PROPOSED", action, chosenDealId, note, proposedBy, proposedAt };
}

function withdraw({ state }: Progress): AppliedVote {
  if (state !== "PROPOSED") throw actionNotPossible("The review has no proposal to withdraw.");
  return { event: "WITHDRAWN", progress: { state: "OPEN" } };
}

function confirm(proposal: Proposal, vote: Vote): Progress {
  if (vote.action !== proposal.action || vote.dealId !== proposal.chosenDealId) throw decisionDiffers(proposal);
  if (isSameOwner(vote.actor, proposal.proposedBy)) throw secondApproverRequired(proposal);
  return decide(proposal, vote);
}

function decide(proposal: Proposal, { note: confirmedNote, actor: confirmedBy, at: confirmedAt }: Vote): Progress {
  return { ...proposal, state: "DECIDED", confirmedNote, confirmedBy, confirmedAt };
}

/** The progress after these events, which are all events of one case from the first one on. */
export function progressAfter(events: readonly ReviewEvent[]): Progress {
  return events.reduce<Progress>(progressWith, { state: "OPEN" });
}

function progressWith(before: Progress, { event, ...vote }: ReviewEvent): Progress {
  if (event === "PROPOSED") return propose(vote);
  if (event === "CONFIRMED" && before.state === "PROPOSED") return decide(before, vote);
  return { state: "OPEN" };
}

/** The actions that a vote may name now. */
export function possibleActions(progress: Progress, actions: readonly string[]): readonly string[] {
  if (progress.state === "OPEN") return actions;
  return progress.state === "PROPOSED" ? [progress.action, WITHDRAW_PROPOSAL] : [];
}

/** Reason of a review about a decision whose votes the edge does not confirm; the id of that decision follows in its subject. */
export const VOTES_UNCONFIRMED = "votes_unconfirmed";
/** The decision stays as it is. */
export const ACKNOWLEDGE = "acknowledge";
