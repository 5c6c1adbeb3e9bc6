import { isTransientFailure } from "../transient-failure.ts";
import { RETRY_AFTER_MS } from "../refusal.ts";
import { childContext, remainingMs } from "./context.ts";
import type { CallContext } from "./contract.ts";
import { refuse } from "./refusals.ts";

/** Kept for the commit of the outcome and the way back: a reply after the deadline is an unknown outcome for the caller. */
export const REPLY_RESERVE_MS = 500;
/** A query reads a few rows. A service that needs longer is restarting, and the caller has to have time for another try. */
const QUERY_MS = 3_000;

/** The context of a query made on the way to a command. It carries no command id, so the callee admits it as a query. */
export function queryContext(context: CallContext): CallContext {
  return childContext(context, { withinMs: QUERY_MS });
}

/** The context of a step of the command: it carries the command id and ends early enough for the caller to get a reply. */
export function withReplyReserve(context: CallContext): CallContext {
  const { commandId } = context;
  return childContext(context, { commandId, withinMs: remainingMs(context) - REPLY_RESERVE_MS });
}

/**
 * Runs the part of a command that comes before the command is recorded. A transient failure in it has moved nothing, so
 * the caller is told that nothing was executed. It says nothing of an earlier call under the same command id.
 */
export async function failAsUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTransientFailure(error)) throw error;
    throw refuse("service_unavailable", "A required service cannot be reached. Nothing was executed.", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }
}
