import assert from "node:assert/strict";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usd } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { exitKey } from "../../domain/lifecycle.ts";
import { refuse } from "../../refusals.ts";
import { findFirstExitTransfer } from "../../store/exit-transfers.ts";
import type { Exit } from "../../store/exits.ts";
import { getSubscription, type Subscription } from "../../store/subscriptions.ts";
import { findUnrecordedOf } from "../../store/fee-decisions.ts";
import { recordFees } from "../fees/record-fees.ts";
import { postUnderLock } from "../posting/post-under-lock.ts";
import { settleImportedExits } from "./settle-imported.ts";
import { sendExit } from "./send-exit.ts";
import { subscriptionMessage } from "../../messages/subscription.ts";
import { releaseExitLock } from "./try-to-leave.ts";

/**
 * Finishes an exit after the Investor has left the pool: platform records the exit transfer, the results of the Investor are
 * posted and its fees collected under the account lock, and the lock is released. Safe to repeat until it returns.
 */
export async function finishExit(deps: Deps, exit: Exit, context: CallContext): Promise<UnassignResponse> {
  const subscription = await getSubscription(deps.pool, exit.subscriptionId);
  const transferId = await enqueue(deps, exit, context);
  if (exit.lockOwner !== null) await collectFees(deps, subscription, exit.lockOwner, context);
  await releaseExitLock(deps, subscription, exit, context);
  const { leftAmount, leftStatus } = exit;
  assert(leftAmount !== null && leftStatus !== null, "an exit that has left the pool has an amount and a status");
  return {
    subscription: subscriptionMessage(asCommitted(subscription, leftStatus)),
    payoutEnqueued: leftAmount > 0n,
    transferId,
    amount: moneyToProto(usd(-leftAmount)),
  };
}

async function collectFees(
  deps: Deps,
  { id, investorLogin: login }: Subscription,
  lockOwner: string,
  context: CallContext,
) {
  try {
    const isPosted = await postUnderLock(deps, { login, lockOwner }, context);
    if (!isPosted) throw unfinished("The Investor has left the pool. Trading results are still being posted.", context);
    // The caller of the decision may have ended before its fees were recorded: without this they would count as none.
    const fees = await findUnrecordedOf(deps.pool, exitKey(id));
    if (fees !== undefined) await recordFees(deps, fees, context);
    await deps.fees.collect({ key: exitKey(id), lockOwner }, withReplyReserve(context));
  } catch (error) {
    deps.wakeSignals.exitSagas.notify();
    deps.log.info("fees of exit not collected, retry scheduled", { id, login, error });
    throw unfinished("The Investor has left the pool. Performance fees are still being collected.", context);
  }
}

/** The answer shows what the command committed, without later changes. */
function asCommitted(subscription: Subscription, status: "PAUSED" | "CANCELLED"): Subscription {
  return { ...subscription, status, endedAt: status === "PAUSED" ? null : subscription.endedAt };
}

/** Platform's id of the exit transfer; undefined when nothing has to leave the Master, or it has left before a restore. */
async function enqueue(deps: Deps, exit: Exit, context: CallContext): Promise<bigint | undefined> {
  const { pool } = deps;
  const { subscriptionId, leftAmount } = exit;
  if (leftAmount === 0n) return undefined;
  await settleImportedExits(deps);
  const transfer = await findFirstExitTransfer(pool, subscriptionId);
  if (transfer === undefined || transfer.isSettled || transfer.transferId !== undefined) return transfer?.transferId;
  const transferId = await sendExit(deps, transfer, context);
  deps.wakeSignals.exits.notify();
  if (transferId !== undefined) return transferId;
  // Another replica may have sent it, or have refused and replaced it.
  const sent = await findFirstExitTransfer(pool, subscriptionId);
  if (sent?.transferId !== undefined || sent?.isSettled === true) return sent.transferId;
  throw unfinished("The Investor has left the pool. The exit transfer is still being sent.", context);
}

function unfinished(message: string, { commandId }: CallContext): Refusal {
  const operation = commandId === "" ? {} : { operationId: commandId };
  return refuse("outcome_unknown", message, { outcome: "unknown", ...operation });
}
