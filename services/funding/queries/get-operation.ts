import { moneyToProto } from "#kernel/contract/money.ts";
import { isZero } from "#kernel/money.ts";
import {
  type GetOperationRequest,
  type Operation,
  OperationAction,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { type Cashflow, depositKey, payoutKey, withdrawalKey } from "../domain/cashflow.ts";
import { outcomeSoFar } from "../domain/outcome-so-far.ts";
import { refuse } from "../refusals.ts";
import { findCashflow } from "../store/cashflows.ts";
import { getWithdrawal } from "../store/withdrawals.ts";

/** Whether it happened, as far as our books know. Not found: it was never recorded, so nobody was asked to act. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const cashflow = await findCashflow(deps.pool, operationId);
  if (cashflow === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return await describe(deps, cashflow);
}

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
