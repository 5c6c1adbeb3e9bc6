import { cancelled, notCancellable } from "#kernel/queue-until-flat.ts";
import type { CancelOperationRequest } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { listCashflows } from "../store/cashflows.ts";
import { listRepetitions } from "../store/ledger.ts";
import { markCancelled } from "../store/queued-withdrawals.ts";

/**
 * Ends a withdrawal that waits. The row decides between this, a try and its expiry; a repetition after a lost answer gets the same one. Returns
 * the id under which the operation is recorded, or the requested one of an operation that is not.
 */
export async function cancelOperation(
  { pool, now }: Deps,
  { operationId: requested }: CancelOperationRequest,
): Promise<CancelOperationRequest> {
  const [repetition] = await listRepetitions(pool, [requested]);
  const operationId = repetition?.operationId ?? requested;
  await markCancelled(pool, operationId, { refusal: cancelled(operationId), at: now() });
  const cashflow = (await listCashflows(pool, [operationId])).get(operationId);
  if (cashflow !== undefined && cashflow.refusal?.code !== "cancelled") throw notCancellable(operationId);
  return { operationId };
}
