import { setTimeout as sleep } from "node:timers/promises";
import { callContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { isTransientFailure } from "#kernel/jobs/transient-failure.ts";

const SERVICE = "subscription";
/** How long a job waits for the reply to one step of a saga. */
const JOB_STEP_MS = 10_000;
/** Pause between two reads of a row that another process changes. */
const POLL_INTERVAL_MS = 25;

/** The time that one call may wait. */
export type WaitBudget = {
  /** Its end, a monotonic instant. */
  readonly untilMs: number;
  readonly isOver: () => boolean;
  /** Waits for one poll interval, or as long as that. */
  readonly pause: (ms?: number) => Promise<void>;
};

/** Ends after `maxWaitMs`, or earlier: the caller still has to receive the reply before its deadline. */
export function waitBudget(context: CallContext, maxWaitMs: number): WaitBudget {
  const untilMs = performance.now() + Math.min(maxWaitMs, remainingMs(context) - REPLY_RESERVE_MS);
  return {
    untilMs,
    isOver: () => performance.now() >= untilMs,
    pause: (ms = POLL_INTERVAL_MS) => sleep(ms),
  };
}

/** Repeats a transaction that failed transiently (lock contention) until the wait budget is over. */
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

/** The context of a recovery job: no caller waits for it, so each step has a deadline of its own. */
export function jobContext(): CallContext {
  return callContext({ caller: SERVICE, withinMs: JOB_STEP_MS });
}

/**
 * Sagas of one run of a recovery job. They are settled in parallel, because a saga may wait for locks of another one, and
 * each uses a connection of the pool while it works.
 */
export const SAGAS_PER_RUN = 8;
