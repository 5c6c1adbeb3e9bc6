import {
  type GetOperationRequest,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
  QueueState,
} from "#proto/pamm/funding/v1/funding.ts";
import { keyOf } from "#kernel/values/key-of.ts";
import { fittingPage } from "#kernel/values/page.ts";
import type { Deps } from "../deps.ts";
import { exitKey, leftByKey } from "../domain/lifecycle.ts";
import { refuse } from "../refusals.ts";
import { findOperation, listOperations as readOperations, type RecordedOperation } from "../store/operations.ts";
import { validate } from "../domain/validate.ts";
import { isPageSize } from "./page.ts";

/** The outcome of an assign or unassign. Not found when it was refused before it was recorded, or never received. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const recorded = await findOperation(deps.pool, operationId, deps.now());
  if (recorded === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  return operationMessage(recorded);
}

const { PENDING, EXECUTED, NOT_EXECUTED, UNKNOWN } = OperationOutcome;
const OUTCOMES = { PENDING, EXECUTED, NOT_EXECUTED, UNKNOWN };
const QUEUE_STATES = { WAITING: QueueState.WAITING, RUNNING: QueueState.RUNNING };
const { UNSPECIFIED } = OperationAction;
const ACTIONS = { assign: OperationAction.ASSIGN, unassign: OperationAction.UNASSIGN } as const;

/** Assigns and unassigns, newest first. They have no comment and no manual review. */
export async function listOperations(deps: Deps, request: ListOperationsRequest): Promise<ListOperationsResponse> {
  const { login, comment, outcome, beforeId, limit } = request;
  validate(isPageSize(limit));
  const action = keyOf(ACTIONS, request.action);
  const isOfOthers = action === undefined && (request.action ?? UNSPECIFIED) !== UNSPECIFIED;
  const left = request.keys?.anyOf.flatMap((key) => leftByKey(key) ?? []);
  const matchesNone = comment !== undefined || outcome === OperationOutcome.REVIEW || isOfOthers || left?.length === 0;
  if (matchesNone) return { items: [], hasMore: false };
  const { masterLogin, fromId, externalId } = request;
  const filter = {
    login,
    outcome: keyOf(OUTCOMES, outcome),
    action,
    masterLogin,
    externalId,
    left,
    queueState: keyOf(QUEUE_STATES, request.queueState),
    fromId,
    beforeId,
    limit: limit + 1,
  };
  const recorded = await readOperations(deps.pool, filter, deps.now());
  return fittingPage(recorded.map(operationMessage), limit, ({ labels }) => labels);
}

/** With the keys under which fee and platform have its fees and transfers. Assigns and unassigns have no amount. */
function operationMessage(recorded: RecordedOperation): Operation {
  const { subscriptionId, action, outcome, queueState, ...known } = recorded;
  return {
    ...known,
    action: ACTIONS[action],
    amount: undefined,
    comment: "",
    outcome: OperationOutcome[outcome],
    dealId: undefined,
    reference: "",
    legs: [],
    feeKey: action === "unassign" && outcome === "EXECUTED" ? exitKey(subscriptionId) : "",
    queueState: queueState && QueueState[queueState],
  };
}
