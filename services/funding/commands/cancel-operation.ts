import type { CancelOperationRequest, Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { cancelled, notCancellable } from "../domain/queue.ts";
import { getOperation, type OperationReads } from "../queries/operations.ts";
import { markCancelled } from "../store/queued-withdrawals.ts";

/** Ends a withdrawal that waits. The row decides between this, a try and its expiry; a repetition of a lost answer gets the same one. */
export async function cancelOperation(
  deps: Deps,
  read: OperationReads,
  { operationId: requested }: CancelOperationRequest,
): Promise<Operation> {
  const { operationId } = await getOperation(deps, read, { operationId: requested });
  await markCancelled(deps.pool, operationId, { refusal: cancelled(operationId), at: deps.now() });
  const operation = await getOperation(deps, read, { operationId });
  if (operation.refusalCode !== "cancelled") throw notCancellable(operationId);
  return operation;
}
