import { moneyToProto } from "#kernel/contract/money.ts";
import {
  OperationAction,
  OperationOutcome,
  type GetOperationRequest,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { refuse } from "../refusals.ts";
import { findCashflow } from "../store/cashflows.ts";

const ACTIONS = { deposit: OperationAction.DEPOSIT, withdraw: OperationAction.WITHDRAW } as const;

export async function getOperation({ pool }: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const cashflow = await findCashflow(pool, operationId);
  if (cashflow === undefined) {
    throw refuse("operation_not_found", "no operation has this id");
  }
  return {
    operationId,
    action: ACTIONS[cashflow.action],
    login: cashflow.login,
    amount: moneyToProto(cashflow.amount),
    comment: cashflow.comment,
    outcome: outcomeOf(cashflow),
    refusalCode: cashflow.refusal?.code ?? "",
    dealId: cashflow.dealId,
    createdAt: cashflow.createdAt,
    finishedAt: cashflow.finishedAt,
    reference: "",
    legs: [],
  };
}

function outcomeOf({ state, doubt }: Cashflow): OperationOutcome {
  if (state === "POSTED") {
    return OperationOutcome.EXECUTED;
  }
  if (state === "REFUSED") {
    return OperationOutcome.NOT_EXECUTED;
  }
  return doubt === undefined ? OperationOutcome.PENDING : OperationOutcome[doubt];
}
