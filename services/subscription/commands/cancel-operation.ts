import type { CancelOperationRequest, Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { cancelled, notCancellable } from "../domain/queue.ts";
import { getOperation } from "../queries/operations.ts";
import { markCancelled } from "../store/queued-unassigns.ts";

/** Ends an unassign that waits. The row decides between this, a try and its expiry; a repetition of a lost answer gets the same one. */
export async function cancelOperation(deps: Deps, { operationId }: CancelOperationRequest): Promise<Operation> {
  await markCancelled(deps.pool, operationId, { refusal: cancelled(operationId), at: deps.now() });
  const operation = await getOperation(deps, { operationId });
  if (operation.refusalCode !== "cancelled") throw notCancellable(operationId);
  return operation;
}
