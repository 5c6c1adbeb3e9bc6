import { inTransaction } from "#kernel/postgres/transaction.ts";
import { cancelled, notCancellable } from "#kernel/queue-until-flat.ts";
import { recordedAs } from "#kernel/refusal.ts";
import type { Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { CancelWithdrawalResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { publishProgress } from "../messages/withdrawal-events.ts";
import { getOperation } from "../queries/operations.ts";
import { markCancelled } from "../store/departure-queue.ts";
import { findDeparture } from "../store/departures.ts";

type Named = { readonly operationId: string };

/** Ends an unassign that waits. */
export async function cancelUnassign(deps: Deps, { operationId }: Named): Promise<Operation> {
  await cancel(deps, operationId);
  const operation = await getOperation(deps, { operationId });
  if (operation.refusalCode !== "cancelled") throw notCancellable(operationId);
  return operation;
}

/** Ends a withdrawal that waits. */
export async function cancelWithdrawal(deps: Deps, { operationId }: Named): Promise<CancelWithdrawalResponse> {
  await cancel(deps, operationId);
  const departure = await findDeparture(deps.pool, operationId);
  if (departure?.refusal?.code !== "cancelled") throw notCancellable(operationId);
  return {};
}

/** The row decides between this, a try and its expiry; a repetition after a lost answer gets the same one. */
async function cancel({ pool, now }: Deps, operationId: string): Promise<void> {
  const refusal = recordedAs(cancelled());
  await inTransaction(pool, async (tx) => {
    const ended = await markCancelled(tx, operationId, { refusal, at: now() });
    for (const { kind } of ended) if (kind === "WITHDRAWAL") publishProgress(tx, operationId, "ENDED");
  });
}
