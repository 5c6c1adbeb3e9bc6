import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { later, RECOVERY_GRACE_MS } from "#kernel/retry.ts";
import type { Deps } from "../../deps.ts";
import { beginTry, type Exit, findExit } from "../../store/exits.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { lockOfExit } from "./try-to-leave.ts";

/** Records the next try before any other service is called; undefined when another try blocks it. */
export async function claimTry(
  deps: Deps,
  subscription: Subscription,
  context: CallContext,
): Promise<Exit | undefined> {
  const { id: subscriptionId } = subscription;
  const last = await findExit(deps.pool, subscriptionId);
  const number = (last?.try ?? 0) + 1;
  const { lockOwner } = lockOfExit(subscription, number);
  const { commandId, requestId } = context;
  const recoverInMs = remainingMs(context) + RECOVERY_GRACE_MS;
  const deadlineAt = later(context.deadline, RECOVERY_GRACE_MS);
  const own = { commandId, requestId, at: deps.now(), deadlineAt };
  return await beginTry(deps.pool, { ...own, subscriptionId, try: number, lockOwner, recoverInMs });
}
