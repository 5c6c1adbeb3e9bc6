import type { Labels } from "#kernel/values/labels.ts";
import { DAY_MS } from "#kernel/values/duration.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";
import { keyInProgress, keyReused } from "#catalogue/key-refusals.ts";

/** For this long after an executed deposit or withdrawal an equal one is a possible duplicate. */
export const DUPLICATE_WINDOW_MS = DAY_MS;

/** The client whose equal operations are duplicates, with the external id of the operation if it has one, and whether a duplicate of an executed one is refused. */
export type DuplicateRule = { readonly clientId: string; readonly rejectsDuplicates: boolean };

/** The client of a request, as its caller names it. */
type RequestingClient = {
  readonly keyId: string;
  readonly choseComment: boolean;
  readonly rejectsDuplicates: boolean;
};

/**
 * Undefined when duplicates cannot be distinguished: no API key, or neither a chosen comment nor an external id. Requests with different external
 * ids are none, whatever else they have in common.
 */
export function duplicateRuleOf(
  client: RequestingClient | undefined,
  labels: Labels | undefined,
): DuplicateRule | undefined {
  if (client === undefined || client.keyId === "") return undefined;
  const { keyId, rejectsDuplicates } = client;
  const externalId = labels?.externalId;
  if (externalId !== undefined) return { clientId: `${keyId} ${externalId}`, rejectsDuplicates };
  return client.choseComment ? { clientId: keyId, rejectsDuplicates } : undefined;
}

/** An equal operation that was executed within the window. */
export type ExecutedDuplicate = { readonly operationId: string; readonly dealId: bigint };

/** What is recorded of operations that equal the requested one. */
export type Duplicates = {
  /** Operation id of one that is open. */
  readonly openDuplicate: string | undefined;
  /** The last one, when it was executed within the window. */
  readonly executed: ExecutedDuplicate | undefined;
};

/** Everything for which a request is refused because of its duplicates. */
export function duplicateReasons({ openDuplicate, executed }: Duplicates, rule: DuplicateRule | undefined): Refusal[] {
  const rejectedFor = rule?.rejectsDuplicates === true ? executed : undefined;
  return [
    ...(openDuplicate === undefined ? [] : [duplicateInProgress(openDuplicate)]),
    ...(rejectedFor === undefined ? [] : [possibleDuplicate(rejectedFor)]),
  ];
}

/** The first operation may still be executed, so a second one could move the money twice. */
function duplicateInProgress(operationId: string): Refusal {
  return refuse("operation_in_progress", `An identical operation is still being processed (${operationId}).`, {
    outcome: "not_executed",
    operationId,
  });
}

function possibleDuplicate({ operationId, dealId }: ExecutedDuplicate): Refusal {
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

/** The Idempotency-Key of a client. */
export type ClientKey = {
  readonly clientId: string;
  readonly hash: Uint8Array;
  /** An operation that ended before has lost its key by age. */
  readonly keptSince: Date;
};

/** The operation that has the key of a request. */
export type KeyedOperation = {
  readonly id: bigint;
  readonly operationId: string;
  /** It is what the request asks for. */
  readonly isSame: boolean;
  /** It has no outcome yet, and its first caller may still wait. */
  readonly isInProgress: boolean;
};

export function refusalUnderKey({ operationId, isSame, isInProgress }: KeyedOperation): Refusal | undefined {
  if (!isSame) return keyReused(operationId, "unknown");
  return isInProgress ? keyInProgress(operationId) : undefined;
}
