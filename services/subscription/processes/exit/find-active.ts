import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../../deps.ts";
import { type Pair, unassignReasons } from "../../domain/unassign-reasons.ts";
import { getLatestOfPair } from "../../latest-subscription.ts";
import { findExit } from "../../store/exits.ts";
import type { Subscription } from "../../store/subscriptions.ts";

/** The subscription that an unassign ends; refuses when it has ended, or is ending by another command. */
export async function findActive(deps: Deps, request: Pair, context: CallContext): Promise<Subscription> {
  const subscription = await getLatestOfPair(deps, request, context);
  const exit = subscription.status === "ACTIVE" ? undefined : await findExit(deps.pool, subscription.id);
  const isOwn = exit?.commandId === context.commandId && context.commandId !== "";
  const [reason] = isOwn ? [] : unassignReasons(subscription);
  if (reason !== undefined) throw reason;
  return subscription;
}
