import { reasonOf } from "#kernel/jobs/retry.ts";
import {
  abandonAssignment,
  finishAssignment,
  releaseAssignmentLock,
  tookTooLong,
} from "../processes/assign/finish-assignment.ts";
import type { Deps } from "../deps.ts";
import { assignmentQueue } from "../store/assignments.ts";
import { getSubscription } from "../store/subscriptions.ts";
import { jobContext, SAGAS_PER_RUN } from "../processes/deadlines.ts";

/** Recovery job of assignments: aborts undecided ones, finishes decided ones, and releases account locks. */
export async function settleAssignments(deps: Deps): Promise<boolean> {
  const claimed = await assignmentQueue.claim(deps.pool, SAGAS_PER_RUN);
  await Promise.all(claimed.map((saga) => settleOne(deps, saga)));
  return claimed.length === SAGAS_PER_RUN;
}

/** A failure on one saga does not stop the others. */
async function settleOne(deps: Deps, { id, tries }: { readonly id: bigint; readonly tries: number }): Promise<void> {
  try {
    await settle(deps, id);
  } catch (error) {
    deps.log.info("assignment settlement failed, retry scheduled", { id, attempt: tries, error });
    await assignmentQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error) }]);
  }
}

async function settle(deps: Deps, id: bigint): Promise<void> {
  const context = jobContext();
  const subscription = await getSubscription(deps.pool, id);
  if (subscription.status !== "ASSIGNING") return await releaseAssignmentLock(deps, subscription, context);
  await abandonAssignment(deps, subscription, tookTooLong(), context);
  // Only a decided assignment is still ASSIGNING here.
  const { status } = await getSubscription(deps.pool, id);
  if (status === "ASSIGNING") await finishAssignment(deps, id, context);
}
