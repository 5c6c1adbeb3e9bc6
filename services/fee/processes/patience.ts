import { setTimeout as sleep } from "node:timers/promises";
import { callContext, childContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";

const SERVICE = "fee";
/** Time kept for recording the outcome and for the way back to the caller. */
const ANSWER_RESERVE_MS = 300;
const QUESTION_MS = 3_000;
const LOOK_AGAIN_MS = 50;
const FIRST_BACK_OFF_MS = 250;
const LONGEST_BACK_OFF_MS = 30_000;
/** A lane is held for a moment only, and a fee that waits for it should follow soon. */
const LONGEST_BUSY_MS = 2_000;
const MOST_DOUBLINGS = 20;

/** A story that goes on although nobody waits for it. */
export function jobContext(withinMs: number): CallContext {
  return callContext({ caller: SERVICE, withinMs });
}

/** The context of a question asked on the way to a command. */
export function question(context: CallContext): CallContext {
  return childContext(context, { withinMs: Math.min(QUESTION_MS, remainingMs(context) - ANSWER_RESERVE_MS) });
}

/** How long another service may take so that the caller still hears what came of it. */
export function inTimeToAnswer(context: CallContext): CallContext {
  return childContext(context, { withinMs: remainingMs(context) - ANSWER_RESERVE_MS });
}

/** Waits a moment; false when there is no time left for another look. */
export async function mayLookAgain(context: CallContext): Promise<boolean> {
  if (remainingMs(context) < ANSWER_RESERVE_MS + LOOK_AGAIN_MS || context.signal.aborted) return false;
  await sleep(LOOK_AGAIN_MS);
  return true;
}

/** Doubles with each try up to a limit, which is near while somebody else's story is in the way. */
export function backOffMs(tries: number, isBusy = false): number {
  const delay = FIRST_BACK_OFF_MS * 2 ** Math.min(Math.max(tries - 1, 0), MOST_DOUBLINGS);
  return Math.min(isBusy ? LONGEST_BUSY_MS : LONGEST_BACK_OFF_MS, delay);
}

export function later(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}
