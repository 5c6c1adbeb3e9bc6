import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { failpoint } from "#kernel/failpoint.ts";
import type { WithdrawRequest, WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { checkMovement } from "../domain/amount.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { outcomeUnknown } from "../domain/transfer-outcome.ts";
import type { WithdrawalDecision } from "../domain/withdrawal.ts";
import { getCashflow } from "../store/cashflows.ts";
import { getWithdrawal } from "../store/withdrawals.ts";
import { duplicateRuleOf } from "./record-cashflows.ts";
import { record } from "./record.ts";
import { decideInPool } from "./withdrawal/decide-in-pool.ts";
import { acquireLock } from "./withdrawal/acquire-lock.ts";
import { collectFee, payOut } from "./withdrawal/pay-out.ts";

/** Pays out the requested amount, or what is available of it, once per command id. */
export async function withdraw(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<WithdrawResponse> {
  const cashflow = await failAsUnavailable(() => findOrRecord(deps, request, context));
  const { decision, dealId } = await settleWithdrawal(deps, cashflow, context);
  return {
    operationId: cashflow.operationId,
    requestedAmount: moneyToProto(cashflow.amount),
    effectiveWithdraw: moneyToProto(decision.effective),
    openPositionsChecked: decision.openPositionsChecked,
    pendingFee: moneyToProto(decision.pendingFee),
    balanceBefore: moneyToProto(decision.balanceBefore),
    availableAfterFee: moneyToProto(decision.availableAfterFee),
    dealId,
    possibleDuplicateOf: cashflow.possibleDuplicateOf,
  };
}

async function findOrRecord(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<Cashflow> {
  const { login, comment } = request;
  const { commandId: operationId, deadline } = context;
  const amount = moneyFromProto(request.amount);
  checkMovement({ operationId, amount, comment });

  const own = { operationId, action: "withdraw", login, amount, comment, deadline, at: deps.now() } as const;
  const draft = { ...own, duplicates: duplicateRuleOf(request.client) };
  return (await record(deps, draft, context)).cashflow;
}

export type SettledWithdrawal = { readonly decision: WithdrawalDecision; readonly dealId: bigint | undefined };

/** More turns than any saga needs; a saga that is still open then is left to the recovery job. */
const MAX_TURNS = 200;

/**
 * Continues a withdrawal from its recorded state to its end: acquire the account lock, let the pool decide, collect the fees,
 * pay out, release the account lock. Each turn handles the state of the row and is safe to repeat, so after a crash the saga
 * continues from the row.
 */
export async function settleWithdrawal(
  deps: Deps,
  { operationId }: Cashflow,
  context: CallContext,
): Promise<SettledWithdrawal> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const cashflow = await getCashflow(deps.pool, operationId);
    const withdrawal = await getWithdrawal(deps.pool, cashflow.id);
    const saga = { cashflow, withdrawal };
    failpoint("before_withdrawal_step", cashflow.state);
    switch (cashflow.state) {
      case "RECORDED":
        await acquireLock(deps, saga, context);
        break;
      case "LEAVING":
        await decideInPool(deps, saga, context);
        break;
      case "COLLECTING":
        await collectFee(deps, saga, context);
        break;
      case "PAYING":
        await payOut(deps, saga, context);
        break;
      case "REFUSED":
        throw cashflow.refusal ?? outcomeUnknown(operationId);
      case "POSTED":
        return { decision: decided(withdrawal.decision, operationId), dealId: cashflow.dealId };
    }
  }
  throw outcomeUnknown(operationId);
}

function decided(decision: WithdrawalDecision | undefined, operationId: string): WithdrawalDecision {
  if (decision === undefined) {
    throw outcomeUnknown(operationId);
  }
  return decision;
}
