import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { refusalFromProto, refusalToProto } from "#kernel/contract/error.ts";
import { moneyFromProto, usdToProto } from "#kernel/contract/money.ts";
import type { Refusal } from "#kernel/values/refusal.ts";
import type {
  PreviewWithdrawRequest,
  PreviewWithdrawResponse,
  WithdrawalFigures,
} from "#proto/pamm/funding/v1/funding.ts";
import type { DepartureFigures } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { checkMovement } from "../domain/amount.ts";
import type { NewCashflow } from "../domain/cashflow.ts";
import { type Duplicates, duplicateReasons, duplicateRuleOf } from "../domain/duplicate.ts";
import { type OpenOperation, refusalOfLock } from "../domain/transfer-outcome.ts";
import { findOpenOperation } from "../store/cashflows.ts";
import { findDuplicates } from "../store/new-cashflows.ts";

/** Refusals of the pool, which a withdrawal passes on. All others are those of the account lock. */
const OF_THE_POOL = new Set(["master_open_positions", "allocation_in_progress", "investor_deficit", "safety_stop"]);
/** No operation has this id. */
const NO_OPERATION = 0n;

/** What a withdrawal would do now: nothing is recorded, and no account is locked. */
export async function previewWithdraw(
  deps: Deps,
  request: PreviewWithdrawRequest,
  context: CallContext,
): Promise<PreviewWithdrawResponse> {
  const { login, comment, client, labels } = request;
  const { minor: amount } = moneyFromProto(request.amount);
  checkMovement({ amount, comment, labels });
  return await failAsUnavailable(async () => {
    await deps.accounts.findInvestor({ login }, queryContext(context));
    const duplicates = await findEqual(deps, { login, amount, comment, client, labels });
    const wanted = { investorLogin: login, requested: usdToProto(amount), comment };
    const { refusals, inPool, figures } = await deps.subscriptions.previewWithdrawal(wanted, queryContext(context));
    const blockedBy = await findOpenOperation(deps.pool, login, NO_OPERATION);
    const reasons = [
      ...duplicateReasons(duplicates, duplicateRuleOf(client, labels)),
      ...refusals.map((refusal) => asWithdrawRefuses(refusalFromProto(refusal), blockedBy)),
    ];
    return {
      refusals: reasons.map(refusalToProto),
      openPositionsChecked: inPool,
      figures: figures && figuresOf(figures),
      possibleDuplicateOf: duplicates.executed?.dealId,
    };
  });
}

type Requested = Pick<PreviewWithdrawRequest, "login" | "comment" | "client"> & Pick<NewCashflow, "amount" | "labels">;

async function findEqual({ pool, now }: Deps, { client, ...requested }: Requested): Promise<Duplicates> {
  const duplicates = duplicateRuleOf(client, requested.labels);
  if (duplicates === undefined) return { openDuplicate: undefined, executed: undefined };
  const at = now();
  const request = { ...requested, duplicates, at, deadline: at, action: "withdraw", operationId: "" } as const;
  return await findDuplicates(pool, { ...request, clientKey: undefined });
}

function asWithdrawRefuses(refusal: Refusal, blockedBy: OpenOperation | undefined): Refusal {
  return OF_THE_POOL.has(refusal.code) ? refusal : refusalOfLock(refusal, blockedBy);
}

function figuresOf({ effective, pendingFee, balanceBefore, availableAfterFee }: DepartureFigures): WithdrawalFigures {
  return { effectiveWithdraw: effective, pendingFee, balanceBefore, availableAfterFee };
}
