import { setTimeout as sleep } from "node:timers/promises";
import { callContext, childContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isTrouble } from "#kernel/trouble.ts";

const SERVICE = "subscription";
/** Time kept for recording the outcome and for the way back to the caller. */
const ANSWER_RESERVE_MS = 500;
const QUESTION_MS = 3_000;
/** How long a job waits for the answer to one step of a story. */
const JOB_STEP_MS = 10_000;
/** Between two looks at a row that somebody else moves. */
const LOOK_AGAIN_MS = 25;
const FIRST_BACK_OFF_MS = 250;
const LONGEST_BACK_OFF_MS = 30_000;

/** Says how long there is still time. */
export type Patience = {
  readonly isOver: () => boolean;
  /** Waits a moment before the same thing is looked at again. */
  readonly pause: () => Promise<void>;
};

/** At most so long, and never so long that the caller would not hear the answer. */
export function patience(context: CallContext, mostMs: number): Patience {
  const until = performance.now() + Math.min(mostMs, remainingMs(context) - ANSWER_RESERVE_MS);
  return {
    isOver: () => performance.now() >= until,
    pause: () => sleep(LOOK_AGAIN_MS),
  };
}

/** Does a transaction again that was rolled back because others are at work on the same rows, while there is time. */
export async function afterOthers<T>(wait: Patience, transaction: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await transaction();
    } catch (error) {
      if (!isTrouble(error) || wait.isOver()) throw error;
    }
    await wait.pause();
  }
}

/** The context of a question asked on the way to a command. */
export function question(context: CallContext): CallContext {
  return childContext(context, { withinMs: QUESTION_MS });
}

/** How long another service may take so that the caller still hears what came of it. */
export function inTimeToAnswer(context: CallContext): CallContext {
  const { commandId } = context;
  return childContext(context, { commandId, withinMs: remainingMs(context) - ANSWER_RESERVE_MS });
}

/** A story that goes on although nobody waits for it. */
export function jobContext(): CallContext {
  return callContext({ caller: SERVICE, withinMs: JOB_STEP_MS });
}

/** Doubles with each try up to the limit. */
export function backOffMs(tries: number): number {
  return Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(Math.max(tries - 1, 0), 20));
}

export function later(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}
