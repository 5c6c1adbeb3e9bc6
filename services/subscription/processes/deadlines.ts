import { setTimeout as sleep } from "node:timers/promises";
import { callContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";

const SERVICE = "subscription";
/** How long a job waits for the answer to one step of a saga. */
const JOB_STEP_MS = 10_000;
/** Between two looks at a row that somebody else moves. */
const LOOK_AGAIN_MS = 25;

/** Says how long there is still time. */
export type WaitBudget = {
  readonly isOver: () => boolean;
  /** Waits a moment before the same thing is looked at again. */
  readonly pause: () => Promise<void>;
};

/** At most so long, and never so long that the caller would not hear the answer. */
export function waitBudget(context: CallContext, maxWaitMs: number): WaitBudget {
  const until = performance.now() + Math.min(maxWaitMs, remainingMs(context) - REPLY_RESERVE_MS);
  return {
    isOver: () => performance.now() >= until,
    pause: () => sleep(LOOK_AGAIN_MS),
  };
}

/** Does a transaction again that was rolled back because others are at work on the same rows, while there is time. */
export async function retryOnContention<T>(wait: WaitBudget, transaction: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await transaction();
    } catch (error) {
      if (!isTransientFailure(error) || wait.isOver()) throw error;
    }
    await wait.pause();
  }
}

/** A saga that goes on although nobody waits for it. */
export function jobContext(): CallContext {
  return callContext({ caller: SERVICE, withinMs: JOB_STEP_MS });
}
