import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import type {
  PreviewUnassignRequest,
  PreviewUnassignResponse,
  PreviewWithdrawalRequest,
  PreviewWithdrawalResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { isEmptyHolding } from "../../domain/buckets.ts";
import { isLogin, isNotNegative, validate } from "../../domain/validate.ts";
import { getLatestOfPair } from "../../latest-subscription.ts";
import { subscriptionMessage } from "../../messages/subscription.ts";
import type { Subscription } from "../../store/subscriptions.ts";
import { type DeparturePreview, figuresOf, lookAtDeparture } from "./look-at-departure.ts";
import { untilPassed } from "./facts.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { unassignReasons } from "../../domain/departure-reasons.ts";

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
    const wanted = { investorLogin, kind: "EXIT", requested: 0n } as const;
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

/** What a withdrawal would come to. */
export async function previewWithdrawal(
  deps: Deps,
  { investorLogin, requested: amount, comment }: PreviewWithdrawalRequest,
  context: CallContext,
): Promise<PreviewWithdrawalResponse> {
  const requested = moneyFromProto(amount, "requested").minor;
  validate(isLogin("investor_login", investorLogin), isNotNegative("requested", requested));
  const wanted = { investorLogin, kind: "WITHDRAWAL", requested, withdrawal: { amount, comment } } as const;
  const preview = await untilPassed(() => lookAtDeparture(deps, wanted, context), context);
  return { refusals: preview.reasons.map(refusalToProto), inPool: preview.isPooled, figures: figuresOf(preview) };
}
