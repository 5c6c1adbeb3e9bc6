import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext } from "#kernel/contract/deadlines.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { UnassignRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { neverAssigned, unassignReasons } from "../../domain/unassign-reasons.ts";
import { findExit } from "../../store/exits.ts";
import { findLatestOfPair, type Subscription } from "../../store/subscriptions.ts";

export type Pair = Pick<UnassignRequest, "masterLogin" | "investorLogin">;

/** The subscription that an unassign ends; refuses when it has ended, or is ending by another command. */
export async function findActive(deps: Deps, request: Pair, context: CallContext): Promise<Subscription> {
  const subscription = await findLatestOfPair(deps.pool, request);
  if (subscription === undefined) throw await refuseUnknownPair(deps, request, context);
  const exit = subscription.status === "ACTIVE" ? undefined : await findExit(deps.pool, subscription.id);
  const isOwn = exit?.commandId === context.commandId && context.commandId !== "";
  const [reason] = isOwn ? [] : unassignReasons(subscription);
  if (reason !== undefined) throw reason;
  return subscription;
}

async function refuseUnknownPair(
  { accounts }: Deps,
  { masterLogin, investorLogin }: Pair,
  context: CallContext,
): Promise<Refusal> {
  await accounts.findMaster({ login: masterLogin }, queryContext(context));
  await accounts.findInvestor({ login: investorLogin }, queryContext(context));
  return neverAssigned({ masterLogin, investorLogin });
}
