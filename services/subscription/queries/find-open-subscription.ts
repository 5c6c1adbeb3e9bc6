import type {
  FindOpenSubscriptionRequest,
  FindOpenSubscriptionResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { subscriptionMessage } from "../messages/subscription.ts";
import type { Deps } from "../deps.ts";
import { findOpenSubscription as find } from "../store/subscriptions.ts";

/** The ACTIVE or PAUSED subscription of an Investor. Calls no other service: an unknown Investor has none. */
export async function findOpenSubscription(
  { pool }: Deps,
  { investorLogin }: FindOpenSubscriptionRequest,
): Promise<FindOpenSubscriptionResponse> {
  const open = await find(pool, investorLogin);
  const isVisible = open !== undefined && open.status !== "ASSIGNING";
  return { subscription: isVisible ? subscriptionMessage(open) : undefined };
}
