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

/** A word as the audit keeps it. VOIDED: no key said it, the facts under a proposal changed. */
export type ReviewEvent = Word & { readonly word: Heard["word"] | "VOIDED" };

/**
 * Two keys decide: the first proposes, another one says the same, and then it is decided. Everything else is refused and
 * changes nothing. `actions` are those that the case allows.
 */
export function hear(progress: Progress, actions: readonly string[], word: Word): Heard {
  if (progress.state === "GONE")
    throw reviewDecided("The review is closed because its subject no longer exists. No decision is needed.");
  if (progress.state === "DECIDED")
    throw reviewDecided(`The review is already decided: '${progress.decision.action}'.`);
  if (word.action === WITHDRAW_PROPOSAL) return withdraw(progress);
  if (progress.state === "PROPOSED") return confirm(progress.proposal, word);
  if (!actions.includes(word.action)) {
    throw actionNotPossible(
      `Action '${word.action}' is not available now. Available: ${actions.join(", ") || "none"}.`,
      actions,
    );
  }
  return { word: "PROPOSED", progress: propose(word) };
}

function propose({ action, dealId, note, actor: proposedBy, at: proposedAt }: Word): Progress {
  return { state: "PROPOSED", proposal: { action, dealId, note, proposedBy, proposedAt } };
}

function withdraw({ state }: Progress): Heard {
  if (state !== "PROPOSED") throw actionNotPossible("The review has no proposal to withdraw.");
  return { word: "WITHDRAWN", progress: { state: "OPEN" } };
}

function confirm(proposal: Proposal, word: Word): Heard {
  if (word.action !== proposal.action || word.dealId !== proposal.dealId) throw decisionDiffers(proposal);
  if (word.actor === proposal.proposedBy) throw secondKeyRequired(proposal);
  return { word: "CONFIRMED", progress: decide(proposal, word) };
}

function decide(proposal: Proposal, { note: confirmedNote, actor: confirmedBy, at: confirmedAt }: Word): Progress {
  return { state: "DECIDED", decision: { ...proposal, confirmedNote, confirmedBy, confirmedAt } };
}

/** How far people had come when the last of these words was said; all words about one case from the first one on. */
export function progressAfter(words: readonly ReviewEvent[]): Progress {
  return words.reduce<Progress>(goOn, { state: "OPEN" });
}

function goOn(before: Progress, { word, ...said }: ReviewEvent): Progress {
  if (word === "PROPOSED") return propose(said);
  if (word === "CONFIRMED" && before.state === "PROPOSED") return decide(before.proposal, said);
  return { state: "OPEN" };
}

/** What may be said now. */
export function possibleActions(progress: Progress, actions: readonly string[]): readonly string[] {
  if (progress.state === "OPEN") return actions;
  return progress.state === "PROPOSED" ? [progress.proposal.action, WITHDRAW_PROPOSAL] : [];
}
