import { cancelled, notCancellable } from "#kernel/queue-until-flat.ts";
import type { CancelOperationRequest } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { findOperation } from "../store/operations.ts";
import { markCancelled } from "../store/queued-unassigns.ts";

/** Ends an unassign that waits. The row decides between this, a try and its expiry; a repetition after a lost answer gets the same one. */
export async function cancelOperation(
  { pool, now }: Deps,
  { operationId }: CancelOperationRequest,
): Promise<CancelOperationRequest> {
  await markCancelled(pool, operationId, { refusal: cancelled(), at: now() });
  const operation = await findOperation(pool, operationId, now());
  if (operation !== undefined && operation.refusalCode !== "cancelled") throw notCancellable(operationId);
  return { operationId };
}
