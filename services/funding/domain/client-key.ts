import { keyInProgress, keyReused } from "#kernel/key-refusals.ts";
import type { Refusal } from "#kernel/refusal.ts";

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
