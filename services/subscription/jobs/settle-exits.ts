import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { reasonOf } from "#kernel/retry.ts";
import { finishExit } from "../processes/exit/finish-exit.ts";
import { accountBusy } from "../domain/lock-refusals.ts";
import { jobContext } from "../processes/deadlines.ts";
import { continueLeaving, abandonTry, releaseExitLock } from "../processes/exit/try-to-leave.ts";
import type { Deps } from "../deps.ts";
import { type ClaimedExit, exitQueue, findExit } from "../store/exits.ts";
import { getSubscription } from "../store/subscriptions.ts";
import { SAGAS_PER_RUN } from "./sagas-per-run.ts";

/** Recovery job of exits: aborts undecided tries, finishes those that leave, and releases account locks. */
export async function settleExits(deps: Deps): Promise<boolean> {
  const claimed = await exitQueue.claim(deps.pool, SAGAS_PER_RUN);
  await Promise.all(claimed.map((saga) => settleOne(deps, saga)));
  return claimed.length === SAGAS_PER_RUN;
}

/** A failure on one saga does not stop the others. */
async function settleOne(deps: Deps, saga: ClaimedExit): Promise<void> {
  const { subscriptionId, tries } = saga;
  try {
    await settle(deps, saga, jobContext());
  } catch (error) {
    deps.log.info("exit settlement failed, retry scheduled", { id: subscriptionId, attempt: tries, error });
    await exitQueue.retryLater(deps.pool, [{ id: subscriptionId, tries, reason: reasonOf(error) }]);
  }
}

async function settle(deps: Deps, saga: ClaimedExit, context: CallContext): Promise<void> {
  const { subscriptionId } = saga;
  const subscription = await getSubscription(deps.pool, subscriptionId);
  const exit = await findExit(deps.pool, subscriptionId);
  assert(exit !== undefined);
  // The claimed try is over, and another replica runs the next one.
  if (exit.try !== saga.try) return;
  switch (exit.state) {
    case "LOCKING":
      return await abandonTry(
        deps,
        {
          subscription,
          exit,
          refusal: accountBusy(
            "The unassign took longer than its caller waits, and was aborted. Nothing was executed. Send the request again in a second.",
          ),
        },
        context,
      );
    case "LEAVING":
      await finishExit(deps, await continueLeaving(deps, { subscription, exit }, context), context);
      return;
    case "LEFT":
      await finishExit(deps, exit, context);
      return;
    case "REFUSED":
      return await releaseExitLock(deps, subscription, exit, context);
  }
}
