import { v7 as uuidv7 } from "uuid";
import type { CallContext } from "./contract.ts";

export type CallFacts = {
  readonly caller: string;
  /** How long the answer is waited for. */
  readonly withinMs: number;
  readonly requestId?: string | undefined;
  readonly commandId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Begins a saga that no caller's context exists for: a job, a consumer, the edge. */
export function callContext(facts: CallFacts): CallContext {
  return {
    requestId: facts.requestId ?? uuidv7(),
    commandId: facts.commandId ?? "",
    caller: facts.caller,
    deadline: new Date(Date.now() + facts.withinMs),
    traceparent: facts.traceparent,
    signal: facts.signal ?? new AbortController().signal,
  };
}

/** The context of a call made while another is answered: never later than its deadline, under a command id of its own. */
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
