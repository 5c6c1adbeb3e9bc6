import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { type Money, usd } from "#kernel/values/money.ts";
import type { PreviewAssignRequest, PreviewAssignResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Master } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../../deps.ts";
import { accountReasons, blockedBy, notAccepting } from "../../domain/decide-assignment.ts";
import { masterArchived, refusalOfLock } from "../../domain/lock-refusals.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import { isLogin, isRate, validate } from "../../domain/validate.ts";
import { isMasterArchived } from "../../archived-master.ts";
import { findSafetyStop } from "../../store/masters.ts";
import { findOpenSubscription, hasFollowedBefore } from "../../store/subscriptions.ts";
import { oneOfEachCode, previewLock, untilPassed } from "./facts.ts";
import { findUnopenState } from "../../store/assignments.ts";

/** What an assign would do now. */
export async function previewAssign(
  deps: Deps,
  request: PreviewAssignRequest,
  context: CallContext,
): Promise<PreviewAssignResponse> {
  const { masterLogin, investorLogin } = request;
  validate(
    isLogin("master_login", masterLogin),
    isLogin("investor_login", investorLogin),
    isRate("perf_fee.rate", request.feeRatePpm),
  );
  return await failAsUnavailable(async () => {
    const master = await deps.accounts.findMaster({ login: masterLogin }, queryContext(context));
    const investor = await deps.accounts.findInvestor({ login: investorLogin }, queryContext(context));
    const wanted = { master, investorLogin, minDeposit: moneyFromProto(master.minDeposit, "min_deposit") };
    const { reasons, balance } = await untilPassed(() => lookAtAssignment(deps, wanted, context), context);
    return {
      refusals: reasons.map(refusalToProto),
      masterId: master.id,
      investorId: investor.id,
      balance: balance && moneyToProto(balance),
      minDeposit: master.minDeposit,
    };
  });
}

type WantedAssignment = { readonly master: Master; readonly investorLogin: string; readonly minDeposit: Money };

/** The facts of the command, read without a saga and without the account lock, and decided by the same rules. */
async function lookAtAssignment(
  deps: Deps,
  { master, investorLogin, minDeposit }: WantedAssignment,
  context: CallContext,
) {
  const { pool, isSingleSubscription } = deps;
  const { refusals, facts } = await previewLock(deps, { login: investorLogin }, context);
  const open = await findOpenSubscription(pool, investorLogin);
  const stop = await findSafetyStop(pool, master.login);
  const unopen = await findUnopenState(pool, master);
  const isArchived = await isMasterArchived(deps, master.login, context);
  const balance = facts && usd(facts.balance);
  const account = facts && {
    balance: usd(facts.balance),
    openPositions: facts.openPositions,
    minDeposit,
    hasFollowedBefore: isSingleSubscription && (await hasFollowedBefore(pool, investorLogin)),
  };
  const reasons = [
    open && blockedBy(open),
    stop && safetyStop(master.login, stop),
    unopen && notAccepting(master.login, unopen),
    ...refusals.map(refusalOfLock),
    isArchived ? masterArchived(master.login) : undefined,
    ...(account === undefined ? [] : accountReasons(account)),
  ];
  return { reasons: oneOfEachCode(reasons.filter((reason) => reason !== undefined)), balance };
}
