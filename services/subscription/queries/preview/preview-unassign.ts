import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import type { PreviewUnassignRequest, PreviewUnassignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { isEmptyHolding } from "../../domain/buckets.ts";
import { refusalOfLock } from "../../domain/lock-refusals.ts";
import { unassignReasons } from "../../domain/unassign-reasons.ts";
import { isLogin, validate } from "../../domain/validate.ts";
import { getLatestOfPair } from "../../latest-subscription.ts";
import { subscriptionMessage } from "../../messages/subscription.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { figuresOf, type DeparturePreview, lookAtDeparture } from "./look-at-departure.ts";
import { untilPassed } from "./until-passed.ts";

/** What an unassign would do now. */
export async function previewUnassign(
  deps: Deps,
  request: PreviewUnassignRequest,
  context: CallContext,
): Promise<PreviewUnassignResponse> {
  const { investorLogin } = request;
  validate(isLogin("master_login", request.masterLogin), isLogin("investor_login", investorLogin));
  return await failAsUnavailable(async () => {
    const subscription = await getLatestOfPair(deps, request, context);
    const reasons = unassignReasons(subscription);
    if (reasons.length > 0) {
      const refusals = reasons.map(refusalToProto);
      return { refusals, subscription: subscriptionMessage(subscription), figures: undefined };
    }
    const wanted = { investorLogin, kind: "EXIT", requested: 0n, refusalOfLock } as const;
    const preview = await untilPassed(() => lookAtDeparture(deps, wanted, context), context);
    return {
      refusals: preview.reasons.map(refusalToProto),
      subscription: subscriptionMessage(asLeft(subscription, preview)),
      figures: figuresOf(preview),
    };
  });
}

/** The status that the exit would commit. When it would end is not known before. */
function asLeft(subscription: Subscription, { decided }: DeparturePreview): Subscription {
  if (decided?.exited === undefined) return subscription;
  return { ...subscription, status: isEmptyHolding(decided.exited) ? "CANCELLED" : "PAUSED" };
}
