import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { DepartureKind, type LeaveRequest, type LeaveResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import type { Leave } from "../store/leaves.ts";
import { refuse } from "../refusals.ts";
import { reachDecision } from "../processes/departure/reach-decision.ts";
import { postUnderLock } from "../processes/posting/post-under-lock.ts";
import { isBetween, isLogin, isNotNegative, isPresent, validate, wrong } from "../domain/validate.ts";

/** Rejects corrupted requests: a caller makes only a few tries. */
const MAX_TRIES = 1_000_000;

/**
 * Decides the amounts of a withdrawal and reserves them. The decision is recorded before it is returned: the same key and
 * try always get the same answer. An exit is decided the same way, inside Unassign.
 */
export async function leave(deps: Deps, request: LeaveRequest, context: CallContext): Promise<LeaveResponse> {
  const requested = moneyFromProto(request.requested, "requested").minor;
  const heldBalance = moneyFromProto(request.heldBalance, "held_balance").minor;
  const { key, investorLogin, heldLogNumber, payoutKey, feeSuffix } = request;
  validate(
    isPresent("key", key),
    isBetween("try", request.try, 1, MAX_TRIES),
    isLogin("investor_login", investorLogin),
    request.kind === DepartureKind.WITHDRAWAL ? undefined : wrong("kind", "not_supported", "must be WITHDRAWAL"),
    isNotNegative("requested", requested),
    isNotNegative("held_log_number", heldLogNumber),
    isPresent("payout_key", payoutKey),
    isPresent("fee_suffix", feeSuffix),
  );
  const own = { key, try: request.try, investorLogin, requested, heldBalance, heldLogNumber, payoutKey, feeSuffix };
  const decision = await reachDecision(deps, { ...own, kind: "WITHDRAWAL" }, context);
  if (decision.refusal !== null) throw new Refusal(decision.refusal);
  const accountLock = { login: investorLogin, lockOwner: `${decision.key}:${decision.try}` };
  if (!(await postUnderLock(deps, accountLock, context))) {
    throw refuse(
      "outcome_unknown",
      "The withdrawal is decided. The Investor's trading results are still being posted.",
      {
        outcome: "unknown",
      },
    );
  }
  return responseOf(decision);
}

function responseOf(leave: Leave): LeaveResponse {
  const { before, pending, available, effective } = leave;
  return {
    inPool: leave.subscriptionId !== null,
    masterLogin: leave.masterLogin ?? "",
    settledLogNumber: leave.settledNumber ?? 0n,
    balanceBefore: moneyToProto(usd(before ?? 0n)),
    pendingFee: moneyToProto(usd(pending ?? 0n)),
    availableAfterFee: moneyToProto(usd(available ?? 0n)),
    effective: moneyToProto(usd(effective ?? 0n)),
  };
}
