import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../../deps.ts";
import type { Departure } from "../../store/departures.ts";
import { findFirstExitTransfer } from "../../store/exit-transfers.ts";
import { outcomeUnknown } from "../departure/end.ts";
import { sendExit } from "./send-exit.ts";
import { settleImportedExits } from "./settle-imported.ts";

/** Platform has recorded the first transfer of a decided exit when this returns; it sends it by and by. */
export async function enqueueExit(deps: Deps, departure: Departure, context: CallContext): Promise<void> {
  const { subscriptionId, effective } = departure;
  assert(subscriptionId !== null, "an exit is of a subscription");
  if (effective === 0n) return;
  await settleImportedExits(deps);
  const transfer = await findFirstExitTransfer(deps.pool, subscriptionId);
  if (transfer === undefined || transfer.isSettled || transfer.transferId !== undefined) return;
  const transferId = await sendExit(deps, transfer, context);
  deps.wakeSignals.exits.notify();
  if (transferId !== undefined) return;
  // Another replica may have sent it, or have refused and replaced it.
  const sent = await findFirstExitTransfer(deps.pool, subscriptionId);
  if (sent?.transferId !== undefined || sent?.isSettled === true) return;
  throw outcomeUnknown(departure, "The Investor has left the pool. The exit transfer is still being sent.");
}
