import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { WithdrawRequest, WithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { checkMovement } from "../domain/amount.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { findCashflow } from "../store/cashflows.ts";
import { insertWithdrawal } from "../store/withdrawals.ts";
import { insertOnce, twinRuleOf } from "./insert-once.ts";
import { settleWithdrawal } from "./settle-withdrawal.ts";

/** Pays out what is asked for as far as it is there, once, however often the same command id asks for it. */
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
  return (await findCashflow(deps.pool, context.commandId)) ?? (await record(deps, request, context));
}

async function record(deps: Deps, request: WithdrawRequest, context: CallContext): Promise<Cashflow> {
  const { login, comment } = request;
  const { commandId: operationId, deadline } = context;
  const amount = moneyFromProto(request.amount);
  checkMovement({ operationId, amount, comment });
  await deps.accounts.findInvestor({ login }, queryContext(context));

  return await inTransaction(deps.pool, async (tx) => {
    const asked = { operationId, login, amount, comment, deadline, at: deps.now(), twins: twinRuleOf(request.client) };
    const { cashflow, isNew } = await insertOnce(tx, { ...asked, action: "withdraw" });
    if (isNew) {
      await insertWithdrawal(tx, cashflow.id);
    }
    return cashflow;
  });
}
