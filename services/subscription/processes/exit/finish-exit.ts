import assert from "node:assert/strict";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { exitKey } from "../../domain/lifecycle.ts";
import { refuse } from "../../refusals.ts";
import { findFirstExitTransfer } from "../../store/exit-transfers.ts";
import type { Exit } from "../../store/exits.ts";
import { getSubscription, type Subscription } from "../../store/subscriptions.ts";
import { postUnderLock } from "../posting/post-under-lock.ts";
import { sendExit } from "./send-exit.ts";
import { subscriptionMessage } from "../../messages/subscription.ts";
import { releaseExitLock } from "./try-to-leave.ts";

/** Nobody fixed a fee for it, or all was taken before the account lock was let go. */
const NOTHING_TO_COLLECT = "crystallisation_not_found";

/**
 * After the pool was left: the exit transfer becomes durable at platform, the Investor's own results and then its fees
 * are taken under the account lock, the account lock is let go, the command answered. Safe to repeat until it is.
 */
export async function finishExit(deps: Deps, exit: Exit, context: CallContext): Promise<UnassignResponse> {
  const subscription = await getSubscription(deps.pool, exit.subscriptionId);
  const transferId = await enqueue(deps, exit, context);
  if (exit.lockOwner !== null) await takeFees(deps, subscription, exit.lockOwner, context);
  await releaseExitLock(deps, subscription, exit, context);
  const { leftAmount, leftStatus } = exit;
  assert(leftAmount !== null && leftStatus !== null, "who has left has left with something or nothing");
  return {
    subscription: subscriptionMessage(asCommitted(subscription, leftStatus)),
    payoutEnqueued: leftAmount > 0n,
    transferId,
    amount: moneyToProto(usd(-leftAmount)),
  };
}

async function takeFees(
  deps: Deps,
  { id, investorLogin: login }: Subscription,
  lockOwner: string,
  context: CallContext,
) {
  try {
    const isPosted = await postUnderLock(deps, { login, lockOwner }, context);
    if (!isPosted) throw unfinished("The Investor has left the pool. Trading results are still being posted.", context);
    await deps.fees.collect({ key: exitKey(id), lockOwner }, withReplyReserve(context));
  } catch (error) {
    if (error instanceof Refusal && error.code === NOTHING_TO_COLLECT) return;
    deps.log.warn("the fees of an exit are taken later", { id, login, error });
    throw unfinished("The Investor has left the pool. Performance fees are still being collected.", context);
  }
}

/** The answer shows what the command committed, not what has become of it since. */
function asCommitted(subscription: Subscription, status: "PAUSED" | "CANCELLED"): Subscription {
  return { ...subscription, status, endedAt: status === "PAUSED" ? null : subscription.endedAt };
}

/** Platform's id of the exit transfer; undefined when nothing has to leave the Master. */
async function enqueue(deps: Deps, exit: Exit, context: CallContext): Promise<bigint | undefined> {
  const { pool } = deps;
  const { subscriptionId, leftAmount } = exit;
  if (leftAmount === 0n) return undefined;
  const transfer = await findFirstExitTransfer(pool, subscriptionId);
  if (transfer === undefined || transfer.transferId !== undefined) return transfer?.transferId;
  await sendExit(deps, transfer, context);
  const sent = await findFirstExitTransfer(pool, subscriptionId);
  if (sent?.transferId !== undefined) return sent.transferId;
  throw unfinished("The Investor has left the pool. The exit transfer is still being sent.", context);
}

function unfinished(message: string, { commandId }: CallContext): Refusal {
  const operation = commandId === "" ? {} : { operationId: commandId };
  return refuse("outcome_unknown", message, { outcome: "unknown", ...operation });
}
