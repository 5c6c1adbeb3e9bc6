import { inTransaction } from "#kernel/postgres/transaction.ts";
import { cancelled, notCancellable } from "#catalogue/queue-until-flat.ts";
import { recordedAs } from "#kernel/values/refusal.ts";
import type { CancelWithdrawalResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { markCancelled } from "../store/departure-queue.ts";
import { findDeparture } from "../store/departures.ts";
import { findOperation } from "../store/operations.ts";
import { publishProgress } from "../messages/capital-events.ts";

type Named = { readonly operationId: string };

/** Ends an unassign that waits. One that is not recorded has no effect: it is not found afterwards. */
export async function cancelUnassign(deps: Deps, { operationId }: Named): Promise<Named> {
  const isCancelled = await cancel(deps, operationId);
  const isKnown = isCancelled || (await findOperation(deps.pool, operationId, deps.now())) !== undefined;
  if (isKnown && !isCancelled) throw notCancellable(operationId);
  return { operationId };
}

/** Ends a withdrawal that waits. One that has not begun yet may still begin. */
export async function cancelWithdrawal(deps: Deps, { operationId }: Named): Promise<CancelWithdrawalResponse> {
  if (!(await cancel(deps, operationId))) throw notCancellable(operationId);
  return {};
}

/** The row decides between this, a try and its expiry; a repetition after a lost answer gets the same one. */
async function cancel({ pool, now }: Deps, operationId: string): Promise<boolean> {
  const refusal = recordedAs(cancelled());
  await inTransaction(pool, async (tx) => {
    const ended = await markCancelled(tx, operationId, { refusal, at: now() });
    for (const each of ended) publishProgress(tx, each, "ENDED");
  });
  return (await findDeparture(pool, operationId))?.refusal?.code === "cancelled";
}
