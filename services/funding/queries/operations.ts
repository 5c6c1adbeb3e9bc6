import { moneyToProto } from "#kernel/contract/money.ts";
import { isZero } from "#kernel/money.ts";
import { MAX_PAGE_SIZE, pageOf } from "#kernel/page.ts";
import {
  type GetOperationRequest,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import {
  type Cashflow,
  type CurrentOutcome,
  currentOutcome,
  depositKey,
  payoutKey,
  withdrawalKey,
} from "../domain/cashflow.ts";
import { refuse } from "../refusals.ts";
import { findCashflow, getCashflow } from "../store/cashflows.ts";
import { listOperationIds } from "../store/ledger.ts";
import { getWithdrawal } from "../store/withdrawals.ts";

/** The recorded operation. Not found: the request was never recorded, so no other service was called for it. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const cashflow = await findCashflow(deps.pool, operationId);
  if (cashflow === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return await operationMessage(deps, cashflow);
}

const OUTCOMES: Partial<Readonly<Record<OperationOutcome, CurrentOutcome>>> = {
  [OperationOutcome.PENDING]: "PENDING",
  [OperationOutcome.EXECUTED]: "EXECUTED",
  [OperationOutcome.NOT_EXECUTED]: "NOT_EXECUTED",
  [OperationOutcome.UNKNOWN]: "UNKNOWN",
  [OperationOutcome.REVIEW]: "REVIEW",
};

/** Deposits and withdrawals, newest first. */
export async function listOperations(deps: Deps, request: ListOperationsRequest): Promise<ListOperationsResponse> {
  const { login, comment, beforeId, limit } = request;
  if (limit < 1 || limit > MAX_PAGE_SIZE) {
    const errors = [{ field: "limit", code: "out_of_range", message: `limit must be from 1 to ${MAX_PAGE_SIZE}.` }];
    throw refuse("validation_failed", "The request is invalid.", { errors });
  }
  const filter = { login, comment, outcome: OUTCOMES[request.outcome], beforeId, limit: limit + 1 };
  const { items: ids, hasMore } = pageOf(await listOperationIds(deps.pool, filter, deps.now()), limit);
  const items: Operation[] = [];
  for (const id of ids) items.push(await operationMessage(deps, await getCashflow(deps.pool, id)));
  return { items, hasMore };
}

const ACTIONS = { deposit: OperationAction.DEPOSIT, withdraw: OperationAction.WITHDRAW } as const;

/** The recorded operation with the keys of its fees and transfers. */
async function operationMessage(deps: Deps, cashflow: Cashflow): Promise<Operation> {
  const { operationId, action, login, amount, comment, refusal, dealId, createdAt, finishedAt } = cashflow;
  return {
    operationId,
    action: ACTIONS[action],
    login,
    amount: moneyToProto(amount),
    comment,
    outcome: OperationOutcome[currentOutcome(cashflow, deps.now())],
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
  // Open weekly fees are not part of `pendingFee`, so in a pool there may be fees even when it is 0.00.
  if (decision === undefined) return "";
  return !decision.openPositionsChecked && isZero(decision.pendingFee) ? "" : withdrawalKey(cashflow);
}
