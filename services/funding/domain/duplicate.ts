import { DAY_MS } from "#kernel/duration.ts";
import { refuse } from "../refusals.ts";

/** For this long after an executed deposit or withdrawal an equal one is a possible duplicate. */
export const DUPLICATE_WINDOW_MS = DAY_MS;

/** The client whose equal operations are duplicates, with the external id of the operation if it has one, and whether a duplicate of an executed one is refused. */
export type DuplicateRule = { readonly clientId: string; readonly rejectsDuplicates: boolean };

/** An equal operation that was executed within the window. */
export type ExecutedDuplicate = { readonly operationId: string; readonly dealId: bigint };

/** The first operation may still be executed, so a second one could move the money twice. */
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
