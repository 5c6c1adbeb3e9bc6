import { createHash } from "node:crypto";

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
