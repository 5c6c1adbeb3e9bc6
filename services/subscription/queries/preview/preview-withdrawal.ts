import type { CallContext } from "#kernel/contract/contract.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { PreviewWithdrawalRequest, PreviewWithdrawalResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { isLogin, isNotNegative, validate } from "../../domain/validate.ts";
import { figuresOf, lookAtDeparture } from "./look-at-departure.ts";
import { untilPassed } from "./until-passed.ts";

/** What a withdrawal would come to. Its caller acquires the account lock, so the refusals of the lock are those of platform. */
export async function previewWithdrawal(
  deps: Deps,
  { investorLogin, requested: amount, comment }: PreviewWithdrawalRequest,
  context: CallContext,
): Promise<PreviewWithdrawalResponse> {
  const requested = moneyFromProto(amount, "requested").minor;
  validate(isLogin("investor_login", investorLogin), isNotNegative("requested", requested));
  const wanted = { investorLogin, kind: "WITHDRAWAL", requested, withdrawal: { amount, comment } } as const;
  const refusalOfLock = <R>(refusal: R): R => refusal;
  const preview = await untilPassed(() => lookAtDeparture(deps, { ...wanted, refusalOfLock }, context), context);
  return { refusals: preview.reasons.map(refusalToProto), inPool: preview.isPooled, figures: figuresOf(preview) };
}
