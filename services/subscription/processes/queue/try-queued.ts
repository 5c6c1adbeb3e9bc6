import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { waitsAfter } from "#kernel/queue-until-flat.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { UnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { findExitOfCommand } from "../../store/exits.ts";
import { markEnded, markWaiting, type QueuedUnassign } from "../../store/queued-unassigns.ts";
import { finishExit } from "../exit/finish-exit.ts";
import { leaveWhenFree } from "../exit/leave-when-free.ts";

/** Undefined: it waits. */
export type TryEnd = UnassignResponse | undefined;

/**
 * One try of an unassign of the queue: as any unassign, under its command id. It ends executed or refused for good, or waits until the Master is flat. Another
 * failure leaves its row as it is, for the recovery job: the exit may have begun.
 */
export async function tryQueued(deps: Deps, queued: QueuedUnassign, context: CallContext): Promise<TryEnd> {
  const { commandId, state } = queued;
  try {
    const left = await findExitOfCommand(deps.pool, commandId);
    const answer =
      left === undefined ? await leaveWhenFree(deps, queued, context) : await finishExit(deps, left, context);
    failpoint("after_leave");
    await markEnded(deps.pool, commandId, { refusal: undefined, at: deps.now() });
    return answer;
  } catch (error) {
    if (!(error instanceof Refusal) || error.outcome !== "not_executed") throw error;
    failpoint("before_waiting", "unassign");
    if (!waitsAfter(state === "WANTED" ? "WANTED" : "RUNNING", error)) {
      await markEnded(deps.pool, commandId, { refusal: error, at: deps.now() });
      throw error;
    }
    await markWaiting(deps.pool, commandId, error.code);
    failpoint("after_waiting", "unassign");
    deps.wakeSignals.queue.notify();
    return undefined;
  }
}
