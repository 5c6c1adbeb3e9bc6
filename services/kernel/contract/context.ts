import { v7 as uuidv7 } from "uuid";
import type { CallContext } from "./contract.ts";

export type CallFacts = {
  readonly caller: string;
  /** How long the caller waits for the answer. */
  readonly withinMs: number;
  readonly requestId?: string | undefined;
  readonly commandId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** A new context, where no caller's context exists: in a job, a consumer or the edge. */
export function callContext(facts: CallFacts): CallContext {
  return {
    requestId: facts.requestId ?? uuidv7(),
    commandId: facts.commandId ?? "",
    caller: facts.caller,
    deadline: new Date(Date.now() + facts.withinMs),
    signal: facts.signal ?? new AbortController().signal,
  };
}

/** The context of a call made while another is handled: its deadline is never later, and its command id is its own. */
export function childContext(
  parent: CallContext,
  { commandId = "", withinMs }: { readonly commandId?: string; readonly withinMs?: number } = {},
): CallContext {
  const latest = withinMs === undefined ? parent.deadline.getTime() : Date.now() + withinMs;
  return { ...parent, commandId, deadline: new Date(Math.min(parent.deadline.getTime(), latest)) };
}

export function remainingMs({ deadline }: Pick<CallContext, "deadline">): number {
  return deadline.getTime() - Date.now();
}
