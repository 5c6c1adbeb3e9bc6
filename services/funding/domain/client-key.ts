import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

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

/** Why the operation is not the answer to a request with its key. The texts are those of the edge. */
export function refusalUnderKey({ operationId, isSame, isInProgress }: KeyedOperation): Error | undefined {
  if (!isSame) {
    return refuse(
      "idempotency_key_reused",
      "The Idempotency-Key was used for a request with other parameters. Send a new key.",
      { outcome: "not_executed" },
    );
  }
  if (!isInProgress) return undefined;
  return refuse(
    "operation_in_progress",
    `The request with this Idempotency-Key is still being processed (${operationId}). Repeat it with the same key.`,
    { outcome: "unknown", operationId, retryAfterMs: RETRY_AFTER_MS },
  );
}
