import assert from "node:assert/strict";
import { moneyToProto } from "#kernel/contract/money.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usd } from "#kernel/money.ts";
import type { UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { findFirstExitTransfer } from "../store/exit-transfers.ts";
import type { Exit } from "../store/exits.ts";
import { getSubscription, type Subscription } from "../store/subscriptions.ts";
import { sendExit } from "./send-exit.ts";
import { subscriptionMessage } from "./subscription-message.ts";
import { letGoOfExit } from "./try-to-leave.ts";

/** After the pool was left: the exit transfer becomes durable at platform, the lane is let go, the command answered. */
export async function finishExit(deps: Deps, exit: Exit, context: CallContext): Promise<UnassignResponse> {
  const subscription = await getSubscription(deps.pool, exit.subscriptionId);
  const transferId = await enqueue(deps, exit, context);
  await letGoOfExit(deps, subscription, exit, context);
  const { leftAmount, leftStatus } = exit;
  assert(leftAmount !== null && leftStatus !== null, "who has left has left with something or nothing");
  return {
    subscription: subscriptionMessage(asCommitted(subscription, leftStatus)),
    payoutEnqueued: leftAmount > 0n,
    transferId,
    amount: moneyToProto(usd(-leftAmount)),
  };
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
  throw refuse("outcome_unknown", "the Investor has left the pool; the exit transfer is sent later", {
    outcome: "unknown",
    ...(context.commandId === "" ? {} : { operationId: context.commandId }),
  });
}
