import { moneyToProto } from "#kernel/contract/money.ts";
import { isZero } from "#kernel/money.ts";
import { OperationAction, OperationOutcome, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { depositKey, payoutKey, withdrawalKey, type Cashflow } from "../domain/cashflow.ts";
import { outcomeSoFar } from "../domain/outcome-so-far.ts";
import { getWithdrawal } from "../store/withdrawals.ts";

const ACTIONS = { deposit: OperationAction.DEPOSIT, withdraw: OperationAction.WITHDRAW } as const;

/** What the books know of an operation, and under which keys others know its movements. */
export async function describe(deps: Deps, cashflow: Cashflow): Promise<Operation> {
  const { operationId, action, login, amount, comment, refusal, dealId, createdAt, finishedAt } = cashflow;
  return {
    operationId,
    action: ACTIONS[action],
    login,
    amount: moneyToProto(amount),
    comment,
    outcome: OperationOutcome[outcomeSoFar(cashflow, deps.now())],
    refusalCode: refusal?.code ?? "",
    dealId,
    createdAt,
    finishedAt,
    reference: "",
    legs: [],
    feeKey: await feeKeyOf(deps, cashflow),
    transferKeys: [action === "deposit" ? depositKey(cashflow) : payoutKey(cashflow)],
  };
}

async function feeKeyOf(deps: Deps, cashflow: Cashflow): Promise<string> {
  if (cashflow.action === "deposit") return "";
  const { decision } = await getWithdrawal(deps.pool, cashflow.id);
  // Weekly fees that were open before are no part of what was pending, so only a pool that was never asked has none.
  if (decision === undefined) return "";
  return !decision.openPositionsChecked && isZero(decision.pendingFee) ? "" : withdrawalKey(cashflow);
}
