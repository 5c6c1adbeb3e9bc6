import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { type Closing, ClosingState } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "./deps.ts";
import type { ClosingState as State } from "./domain/decide-change.ts";

/** The closing of a Master, read from subscription; undefined while none has begun. The call does not carry the command id. */
export async function findClosing(
  { subscriptions }: Pick<Deps, "subscriptions">,
  masterLogin: string,
  context: CallContext,
): Promise<Closing | undefined> {
  return (await subscriptions.getClosing({ masterLogin }, childContext(context))).closing;
}

export function stateOf(closing: Closing | undefined): State | undefined {
  if (closing === undefined) return undefined;
  return closing.state === ClosingState.ARCHIVED ? "archived" : "closing";
}
