import { MAX_TRANSFER_KEYS } from "#kernel/limits.ts";
import {
  type GetOperationRequest,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import { pageOf } from "#kernel/page.ts";
import type { Deps } from "../deps.ts";
import { exitKey } from "../domain/lifecycle.ts";
import { validate } from "../domain/validate.ts";
import { refuse } from "../refusals.ts";
import {
  findOperation,
  listExitKeys,
  listOperations as readOperations,
  type OperationOutcome as RecordedOutcome,
  type RecordedOperation,
} from "../store/operations.ts";
import { isPageSize } from "./page.ts";

/** The outcome of an assign or unassign. Not found when it was refused before it was recorded, or never received. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const recorded = await findOperation(deps.pool, operationId, deps.now());
  if (recorded === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return await operationMessage(deps, recorded);
}

const OUTCOMES: Partial<Readonly<Record<OperationOutcome, RecordedOutcome>>> = {
  [OperationOutcome.PENDING]: "PENDING",
  [OperationOutcome.EXECUTED]: "EXECUTED",
  [OperationOutcome.NOT_EXECUTED]: "NOT_EXECUTED",
  [OperationOutcome.UNKNOWN]: "UNKNOWN",
};

/** Assigns and unassigns, newest first. They have no comment and no manual review. */
export async function listOperations(deps: Deps, request: ListOperationsRequest): Promise<ListOperationsResponse> {
  const { login, comment, outcome, beforeId, limit } = request;
  validate(isPageSize(limit));
  if (comment !== undefined || outcome === OperationOutcome.REVIEW) return { items: [], hasMore: false };
  const filter = { login, outcome: OUTCOMES[outcome], beforeId, limit: limit + 1 };
  const { items: recorded, hasMore } = pageOf(await readOperations(deps.pool, filter, deps.now()), limit);
  const items: Operation[] = [];
  for (const operation of recorded) items.push(await operationMessage(deps, operation));
  return { items, hasMore };
}

const ACTIONS = { assign: OperationAction.ASSIGN, unassign: OperationAction.UNASSIGN } as const;

/** The operation message, with the keys under which fee and platform have its fees and transfers. */
async function operationMessage({ pool }: Deps, recorded: RecordedOperation): Promise<Operation> {
  const { subscriptionId, commandId, action, investorLogin, outcome, refusalCode, createdAt, finishedAt } = recorded;
  const hasLeft = action === "unassign" && outcome === "EXECUTED";
  return {
    operationId: commandId,
    action: ACTIONS[action],
    login: investorLogin,
    // Assign and unassign have no amount.
    amount: undefined,
    comment: "",
    outcome: OperationOutcome[outcome],
    refusalCode: outcome === "NOT_EXECUTED" ? (refusalCode ?? "") : "",
    dealId: undefined,
    createdAt,
    finishedAt: finishedAt ?? undefined,
    reference: "",
    legs: [],
    feeKey: hasLeft ? exitKey(subscriptionId) : "",
    transferKeys: hasLeft ? await listExitKeys(pool, subscriptionId, MAX_TRANSFER_KEYS) : [],
  };
}
