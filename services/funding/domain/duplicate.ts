import { refuse } from "../refusals.ts";

/** How long after a deposit or withdrawal an equal one may be a mistake. */
export const DUPLICATE_WINDOW_MS = 24 * 60 * 60 * 1_000;

/** Whose equal operations are duplicates, and what is to be done with one of an executed operation. */
export type DuplicateRule = { readonly keyId: string; readonly rejectsDuplicates: boolean };

/** An equal operation that was executed lately. */
export type ExecutedDuplicate = { readonly operationId: string; readonly dealId: bigint };

/** While nobody knows what becomes of the first, a second would be a gamble. */
export function duplicateInProgress(operationId: string): Error {
  return refuse("operation_in_progress", `An identical operation is still being processed (${operationId}).`, {
    outcome: "not_executed",
    operationId,
  });
}

export function possibleDuplicate({ operationId, dealId }: ExecutedDuplicate): Error {
  return refuse(
    "possible_duplicate",
    `An identical operation was executed within the last 24 hours (deal ${dealId}).`,
    {
      outcome: "not_executed",
      operationId,
      details: { deal_id: String(dealId) },
    },
  );
}
