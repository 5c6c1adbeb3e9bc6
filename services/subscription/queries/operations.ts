import assert from "node:assert/strict";
import { labelsToProto } from "#kernel/contract/labels.ts";
import { MAX_TRANSFER_KEYS } from "#kernel/limits.ts";
import {
  type GetOperationRequest,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
  QueueState,
} from "#proto/pamm/funding/v1/funding.ts";
import { fittingPage } from "#kernel/page.ts";
import type { Deps } from "../deps.ts";
import { exitKey, leftByKey } from "../domain/lifecycle.ts";
import { validate } from "../domain/validate.ts";
import { refuse } from "../refusals.ts";
import {
  findOperation,
  listExitKeys,
  listOperations as readOperations,
  type RecordedOperation,
} from "../store/operations.ts";
import type { OperationOutcome as RecordedOutcome } from "../store/operation-outcomes.ts";
import { isPageSize } from "./page.ts";

/** The outcome of an assign or unassign. Not found when it was refused before it was recorded, or never received. */
export async function getOperation(deps: Deps, { operationId }: GetOperationRequest): Promise<Operation> {
  const recorded = await findOperation(deps.pool, operationId, deps.now());
  if (recorded === undefined) throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
  const [message] = await operationMessages(deps, [recorded]);
  assert(message !== undefined);
  return message;
}

const OUTCOMES: Partial<Readonly<Record<OperationOutcome, RecordedOutcome>>> = {
  [OperationOutcome.PENDING]: "PENDING",
  [OperationOutcome.EXECUTED]: "EXECUTED",
  [OperationOutcome.NOT_EXECUTED]: "NOT_EXECUTED",
  [OperationOutcome.UNKNOWN]: "UNKNOWN",
};

const QUEUE_STATES = { [QueueState.WAITING]: "WAITING", [QueueState.RUNNING]: "RUNNING" } as Partial<
  Readonly<Record<QueueState, "WAITING" | "RUNNING">>
>;

/** Assigns and unassigns, newest first. They have no comment and no manual review. */
export async function listOperations(deps: Deps, request: ListOperationsRequest): Promise<ListOperationsResponse> {
  const { login, comment, outcome, beforeId, limit } = request;
  validate(isPageSize(limit));
  const action = wantedAction(request);
  const left = request.keys?.anyOf.flatMap((key) => leftByKey(key) ?? []);
  const matchesNone =
    comment !== undefined || outcome === OperationOutcome.REVIEW || action === "none" || left?.length === 0;
  if (matchesNone) return { items: [], hasMore: false };
  const { masterLogin, fromId, externalId } = request;
  const filter = {
    login,
    outcome: OUTCOMES[outcome],
    action,
    masterLogin,
    externalId,
    left,
    queueState: QUEUE_STATES[request.queueState ?? QueueState.UNSPECIFIED],
    fromId,
    beforeId,
    limit: limit + 1,
  };
  const recorded = await operationMessages(deps, await readOperations(deps.pool, filter, deps.now()));
  return fittingPage(recorded, limit, ({ labels }) => labels?.metadata);
}

/** Undefined for both. "none": another service records the requested ones. */
function wantedAction({ action }: ListOperationsRequest): keyof typeof ACTIONS | "none" | undefined {
  switch (action) {
    case undefined:
    case OperationAction.UNSPECIFIED:
      return undefined;
    case OperationAction.ASSIGN:
      return "assign";
    case OperationAction.UNASSIGN:
      return "unassign";
    default:
      return "none";
  }
}

const ACTIONS = { assign: OperationAction.ASSIGN, unassign: OperationAction.UNASSIGN } as const;

/** The messages, with the keys under which fee and platform have their fees and transfers. */
async function operationMessages({ pool }: Deps, recorded: readonly RecordedOperation[]): Promise<Operation[]> {
  const left = recorded.filter(hasLeft).map(({ subscriptionId }) => subscriptionId);
  const exitKeys = await listExitKeys(pool, left, MAX_TRANSFER_KEYS);
  return recorded.map((operation) => operationMessage(operation, exitKeys));
}

function hasLeft({ action, outcome }: RecordedOperation): boolean {
  return action === "unassign" && outcome === "EXECUTED";
}

function isFinal(outcome: RecordedOperation["outcome"]): boolean {
  return outcome === "EXECUTED" || outcome === "NOT_EXECUTED";
}

function operationMessage(recorded: RecordedOperation, exitKeys: ReadonlyMap<bigint, string[]>): Operation {
  const { subscriptionId, commandId, action, investorLogin, outcome, refusalCode, createdAt, finishedAt } = recorded;
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
    // An assign has its instant in the pool before its fee configuration is confirmed: until then its outcome is not known.
    finishedAt: isFinal(outcome) ? (finishedAt ?? undefined) : undefined,
    reference: "",
    legs: [],
    feeKey: hasLeft(recorded) ? exitKey(subscriptionId) : "",
    transferKeys: hasLeft(recorded) ? (exitKeys.get(subscriptionId) ?? []) : [],
    masterLogin: recorded.masterLogin,
    ...queueMessage(recorded),
    labels: labelsToProto(recorded),
  };
}

/** Nothing for one that has never waited. */
function queueMessage({
  queueState,
  queueUntil,
  outcome,
}: RecordedOperation): Pick<Operation, "queueState" | "queuedUntil"> {
  if (queueState === null || queueUntil === null) return {};
  const isOpen = outcome === "PENDING" && (queueState === "WAITING" || queueState === "RUNNING");
  return { queueState: isOpen ? QueueState[queueState] : QueueState.ENDED, queuedUntil: queueUntil };
}
