import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { isZero } from "#kernel/money.ts";
import { OperationAction, OperationOutcome, type Operation } from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import { depositKey, payoutKey, withdrawalKey, type Cashflow } from "../domain/cashflow.ts";
import { outcomeSoFar } from "../domain/outcome-so-far.ts";
import { getWithdrawal } from "../store/withdrawals.ts";
import { askFeeKeys, askLegs } from "./ask-legs.ts";

const ACTIONS = { deposit: OperationAction.DEPOSIT, withdraw: OperationAction.WITHDRAW } as const;

/** What the books know of an operation, and what platform has recorded for it, as far as it can be asked now. */
export async function describe(deps: Deps, cashflow: Cashflow, context: CallContext): Promise<Operation> {
  const { operationId, action, login, amount, comment, refusal, dealId, createdAt, finishedAt } = cashflow;
  const ownKey = action === "deposit" ? depositKey(cashflow) : payoutKey(cashflow);
  const feeKeys = await feeKeysOf(deps, cashflow, context);
  const [fees, own] = await Promise.all([askLegs(deps, feeKeys, context), askLegs(deps, [ownKey], context)]);
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
    reference: own[0]?.reference ?? "",
    legs: [...fees, ...own],
  };
}

async function feeKeysOf(deps: Deps, cashflow: Cashflow, context: CallContext): Promise<string[]> {
  if (cashflow.action === "deposit") return [];
  const { decision } = await getWithdrawal(deps.pool, cashflow.id);
  // Weekly fees that were open before are no part of what was pending, so only a pool that was never asked has none.
  if (decision === undefined) return [];
  if (!decision.openPositionsChecked && isZero(decision.pendingFee)) return [];
  return await askFeeKeys(deps, withdrawalKey(cashflow), context);
}
