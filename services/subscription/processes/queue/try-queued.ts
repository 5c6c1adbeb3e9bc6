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

/** Codes of refusals of a subscription that has ended, by another command. */
const LEFT_CODES = new Set(["exit_in_progress", "subscription_not_active"]);

/** Undefined: it waits, or its answer is read by no caller. */
export type TryEnd = UnassignResponse | undefined;

/**
 * One try of an unassign of the queue: as any unassign, under its command id. It ends executed or refused for good, or waits until the Master is flat; that of
 * a Master that is being closed waits until the Investor has left. Another failure leaves its row as it is, to be tried again: the exit may have begun.
 */
export async function tryQueued(deps: Deps, queued: QueuedUnassign, context: CallContext): Promise<TryEnd> {
  const { commandId } = queued;
  // The queue tries again: in a try of its job nothing waits, because others are tried after it.
  const maxWaitMs = queued.state === "WANTED" ? undefined : 0;
  try {
    const left = await findExitOfCommand(deps.pool, commandId);
    const answer =
      left === undefined
        ? await leaveWhenFree(deps, queued, context, maxWaitMs)
        : await finishExit(deps, left, context);
    failpoint("after_leave");
    await markEnded(deps.pool, commandId, { refusal: undefined, at: deps.now() });
    return answer;
  } catch (error) {
    if (!(error instanceof Refusal) || error.outcome !== "not_executed") {
      if (!(await hasLeftForClosing(deps, queued))) throw error;
      await markEnded(deps.pool, commandId, { refusal: undefined, at: deps.now() });
      return undefined;
    }
    failpoint("before_waiting", "unassign");
    if (!waits(queued, error)) {
      await markEnded(deps.pool, commandId, { refusal: error, at: deps.now() });
      throw error;
    }
    await markWaiting(deps.pool, commandId, error.code);
    failpoint("after_waiting", "unassign");
    deps.wakeSignals.queue.notify();
    return undefined;
  }
}

/** The recovery job of exits finishes it, so that fees which wait keep no other Investor in the queue. */
async function hasLeftForClosing({ pool }: Deps, { commandId, expiresAt }: QueuedUnassign): Promise<boolean> {
  return expiresAt === null && (await findExitOfCommand(pool, commandId)) !== undefined;
}

function waits({ state, expiresAt }: QueuedUnassign, refusal: Refusal): boolean {
  if (expiresAt === null) return !LEFT_CODES.has(refusal.code);
  return waitsAfter(state === "WANTED" ? "WANTED" : "RUNNING", refusal);
}
