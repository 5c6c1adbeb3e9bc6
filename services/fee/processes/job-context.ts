import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";

/** The context of a call that a job makes. */
export function jobContext(withinMs: number): CallContext {
  return callContext({ caller: "fee", withinMs });
}
