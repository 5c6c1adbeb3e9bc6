import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { cancelled, notCancellable } from "#catalogue/queue-until-flat.ts";
import type { CancelOperationRequest } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { markRefused } from "../store/cashflow-transitions.ts";
import { listCashflows } from "../store/cashflows.ts";
import { listRepetitions } from "../store/ledger.ts";

/**
 * Ends a withdrawal that waits. Subscription decides between this, a try and its expiry; a repetition after a lost answer gets the same one. Returns
 * the id under which the operation is recorded, or the requested one of an operation that is not.
 */
export async function cancelOperation(
  { pool, subscriptions, now }: Deps,
  { operationId: requested }: CancelOperationRequest,
  context: CallContext,
): Promise<CancelOperationRequest> {
  const [repetition] = await listRepetitions(pool, [requested]);
  const operationId = repetition?.operationId ?? requested;
  const cashflow = (await listCashflows(pool, [operationId])).get(operationId);
  if (cashflow === undefined || cashflow.refusal?.code === "cancelled") return { operationId };
  if (cashflow.state !== "RECORDED" || cashflow.queueUntil === undefined) throw notCancellable(operationId);
  await subscriptions.cancelWithdrawal({ operationId }, withReplyReserve(context));
  await markRefused(pool, cashflow.id, { refusal: cancelled(operationId), at: now() });
  return { operationId };
}
