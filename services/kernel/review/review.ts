import { actionNotPossible, decisionDiffers, reviewDecided, secondKeyRequired } from "./refusals.ts";

/** Takes a proposal back, whoever made it. */
export const WITHDRAW_PROPOSAL = "withdraw_proposal";

/** What one API key says about a case. */
export type Word = {
  readonly action: string;
  /** Ticket, for actions that name a deal; 0 otherwise. */
  readonly dealId: bigint;
  readonly note: string;
  /** Id of the API key. */
  readonly actor: string;
  readonly at: Date;
};

export type Proposal = {
  readonly action: string;
  readonly dealId: bigint;
  readonly note: string;
  readonly proposedBy: string;
  readonly proposedAt: Date;
};

export type Decision = Proposal & {
  readonly confirmedNote: string;
  readonly confirmedBy: string;
  readonly confirmedAt: Date;
};

/** How far people have come with a case. GONE: what it was about is no more. */
export type Progress =
  | { readonly state: "OPEN" }
  | { readonly state: "PROPOSED"; readonly proposal: Proposal }
  | { readonly state: "DECIDED"; readonly decision: Decision }
  | { readonly state: "GONE" };

/** What the word was: the audit keeps it under this name. */
export type Heard = {
  readonly word: "PROPOSED" | "WITHDRAWN" | "CONFIRMED";
  readonly progress: Progress;
};

/**
 * Two keys decide: the first proposes, another one says the same, and then it is decided. Everything else is refused and
 * changes nothing. `actions` are those that the case allows.
 */
export function hear(progress: Progress, actions: readonly string[], word: Word): Heard {
  if (progress.state === "GONE") throw reviewDecided("what the review was about is no more; nothing has to be decided");
  if (progress.state === "DECIDED") throw reviewDecided(`${progress.decision.action} is decided already`);
  if (word.action === WITHDRAW_PROPOSAL) return withdraw(progress);
  if (progress.state === "PROPOSED") return confirm(progress.proposal, word);
  if (!actions.includes(word.action)) {
    throw actionNotPossible(`${word.action} is not among what can be decided here`, actions);
  }
  const { action, dealId, note, actor: proposedBy, at: proposedAt } = word;
  return {
    word: "PROPOSED",
    progress: { state: "PROPOSED", proposal: { action, dealId, note, proposedBy, proposedAt } },
  };
}

function withdraw({ state }: Progress): Heard {
  if (state !== "PROPOSED") throw actionNotPossible("nothing is proposed that could be withdrawn");
  return { word: "WITHDRAWN", progress: { state: "OPEN" } };
}

function confirm(proposal: Proposal, { action, dealId, note, actor, at }: Word): Heard {
  if (action !== proposal.action || dealId !== proposal.dealId) throw decisionDiffers(proposal);
  if (actor === proposal.proposedBy) throw secondKeyRequired(proposal);
  const decision = { ...proposal, confirmedNote: note, confirmedBy: actor, confirmedAt: at };
  return { word: "CONFIRMED", progress: { state: "DECIDED", decision } };
}

/** What may be said now. */
export function possibleActions(progress: Progress, actions: readonly string[]): readonly string[] {
  if (progress.state === "OPEN") return actions;
  return progress.state === "PROPOSED" ? [progress.proposal.action, WITHDRAW_PROPOSAL] : [];
}
