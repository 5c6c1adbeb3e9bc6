import { isTransientFailure } from "../jobs/transient-failure.ts";
import { RESTART_RETRY_AFTER_MS } from "../values/refusal.ts";
import { childContext, remainingMs } from "./context.ts";
import type { CallContext } from "./contract.ts";
import { refuse } from "./refusals.ts";

/** Reserved for committing the outcome and sending the reply: for the caller, a late reply is an unknown outcome. */
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
 * the refusal states that nothing was executed. It says nothing about an earlier call under the same command id.
 */
export async function failAsUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTransientFailure(error)) throw error;
    throw refuse("service_unavailable", "A required service cannot be reached. Nothing was executed.", {
      outcome: "not_executed",
      retryAfterMs: RESTART_RETRY_AFTER_MS,
    });
  }
}
