import { childContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";

const QUESTION_MS = 3_000;
/** Time kept for recording the outcome and for the way back to the caller. */
const ANSWER_RESERVE_MS = 500;

/** The context of a question asked on the way to a command. */
export function question(context: CallContext): CallContext {
  return childContext(context, { withinMs: QUESTION_MS });
}

/** How long another service may take so that the caller still hears what came of it. */
export function inTimeToAnswer(context: CallContext): CallContext {
  return childContext(context, { commandId: context.commandId, withinMs: remainingMs(context) - ANSWER_RESERVE_MS });
}
