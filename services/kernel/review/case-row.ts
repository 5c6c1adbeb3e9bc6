import type { Action, Reason } from "#catalogue/reviews.ts";
import type { Decision, Progress } from "./review.ts";
import { createHash } from "node:crypto";

/** A case for manual review, as it is stored. */
export type ReviewCase = {
  readonly id: bigint;
  readonly subject: string;
  readonly reason: Reason;
  readonly login: string;
  /** Cents, signed; null when the case is not about an amount. */
  readonly amount: bigint | null;
  readonly operationId: string;
  readonly reference: string;
  readonly dealId: bigint;
  /** Undefined when no deals of one kind have caused it. */
  readonly cause: DealCause | undefined;
  readonly group: string;
  /** A JSON object. */
  readonly evidence: string;
  readonly actions: readonly Action[];
  readonly openedAt: Date;
  readonly progress: Progress;
  /** Attempts of the job that works on the decision. */
  readonly tries: number;
};

/** A row of the view review_case_row. The columns of a proposal or a confirmation are null while there is none. */
export type CaseRow = Omit<ReviewCase, "progress" | "cause"> &
  CauseRow &
  Omit<Decision, "dealId"> & { readonly state: Progress["state"]; readonly chosenDealId: bigint };

export type CauseRow = {
  readonly causeAction: number | null;
  readonly causeComment: string | null;
  readonly day: string;
};

export function causeFrom({ causeAction: action, causeComment: comment, day }: CauseRow): DealCause | undefined {
  return action === null || comment === null ? undefined : { action, comment, day };
}

export function caseFrom(row: CaseRow): ReviewCase {
  const { state, action, chosenDealId, note, proposedBy, proposedAt, ...rest } = row;
  const { confirmedNote, confirmedBy, confirmedAt, causeAction, causeComment, day, ...others } = rest;
  const common = { ...others, cause: causeFrom({ causeAction, causeComment, day }) };
  if (state === "OPEN" || state === "OBSOLETE") return { ...common, progress: { state } };
  const proposal = { action, dealId: chosenDealId, note, proposedBy, proposedAt };
  if (state === "PROPOSED") return { ...common, progress: { state, proposal } };
  return { ...common, progress: { state, decision: { ...proposal, confirmedNote, confirmedBy, confirmedAt } } };
}

/** Action, comment and day (UTC, 2026-01-31) of the deals that a case is about. */
export type DealCause = { readonly action: number; readonly comment: string; readonly day: string };

type Grouped = {
  readonly action: number | undefined;
  readonly comment: string | undefined;
  readonly day: string;
  /** The same for all cases with one cause. */
  readonly group: string;
};

const GROUP_LENGTH = 24;
const DAY_LENGTH = 10;

/** What the group of a case follows from. */
type Facts = {
  readonly subject: string;
  readonly reason: string;
  readonly amount?: bigint | null | undefined;
  readonly cause?: DealCause | undefined;
};

/**
 * Cases are of one group where reason, action, comment and day of their deals are the same. A case about no deals has the day on which it
 * was opened; one about an amount without such a cause is of a group of its own.
 */
export function groupedBy({ subject, reason, amount, cause }: Facts, openedAt: Date): Grouped {
  const { action, comment } = cause ?? {};
  const day = cause?.day ?? openedAt.toISOString().slice(0, DAY_LENGTH);
  const isAlone = cause === undefined && typeof amount === "bigint";
  const text = JSON.stringify(isAlone ? [subject] : [reason, action ?? null, comment ?? null, day]);
  return { action, comment, day, group: createHash("sha256").update(text).digest("hex").slice(0, GROUP_LENGTH) };
}
