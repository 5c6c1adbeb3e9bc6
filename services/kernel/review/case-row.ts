import { createHash } from "node:crypto";
import type { Action, Reason } from "#catalogue/reviews.ts";
import type { Progress } from "./review.ts";

/** A case for manual review: a row of the view review_case_row. */
export type ReviewCase = Progress & {
  readonly id: bigint;
  readonly subject: string;
  readonly reason: Reason;
  readonly login: string;
  /** Cents, signed; null when the case is not about an amount. */
  readonly amount: bigint | null;
  readonly operationId: string;
  readonly reference: string;
  readonly dealId: bigint;
  readonly group: string;
  /** A JSON object. */
  readonly evidence: string;
  readonly actions: readonly Action[];
  readonly openedAt: Date;
  /** Attempts of the job that works on the decision. */
  readonly tries: number;
} & CauseRow;

/** The deals that have caused a case; action and comment are null when they are not of one kind. */
export type CauseRow = {
  readonly causeAction: number | null;
  readonly causeComment: string | null;
  readonly day: string;
};

export function causeFrom({ causeAction: action, causeComment: comment, day }: CauseRow): DealCause | undefined {
  return action === null || comment === null ? undefined : { action, comment, day };
}

/** Action, comment and day (UTC, 2026-01-31) of the deals that a case is about. */
export type DealCause = { readonly action: number; readonly comment: string; readonly day: string };

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
 * was opened; one about an amount without such a cause is of a group of its own. `group` is the same for all cases of a group.
 */
export function groupedBy({ subject, reason, amount, cause }: Facts, openedAt: Date) {
  const { action, comment } = cause ?? {};
  const day = cause?.day ?? openedAt.toISOString().slice(0, DAY_LENGTH);
  const isAlone = cause === undefined && typeof amount === "bigint";
  const text = JSON.stringify(isAlone ? [subject] : [reason, action ?? null, comment ?? null, day]);
  return { action, comment, day, group: createHash("sha256").update(text).digest("hex").slice(0, GROUP_LENGTH) };
}
