import { usdToProto } from "#kernel/contract/money.ts";
import { type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import { keyOf } from "#kernel/values/key-of.ts";
import { fittingPage, MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import {
  type GetOperationRequest,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
  OperationAction,
  OperationOutcome,
  QueueState,
} from "#proto/pamm/funding/v1/funding.ts";
import { findRemovedBefore } from "#kernel/retention/retain.ts";
import { instantOfId } from "#kernel/values/uuid-time.ts";
import type { Deps } from "../deps.ts";
import { isOldEnough, mayBeRemoved, OPERATIONS } from "../retention.ts";
import { type Cashflow, currentOutcome, namedByKey, transferKeyOf } from "../domain/cashflow.ts";
import { refuse } from "../refusals.ts";
import { listCashflows } from "../store/cashflows.ts";
import { listOperations as readOperations, listRepetitions } from "../store/ledger.ts";

const REMOVED =
  "Deposits and withdrawals of this age are not kept any more. That this one is not found proves nothing about it.";

export type OperationReads = GatheredRead<string, Cashflow>;

/** Operations that are asked for at the same time are read by one statement. */
export function operationReads({ pool }: Pick<Deps, "pool">): OperationReads {
  return gatherReads(async (ids) => {
    const found = await listCashflows(pool, ids);
    const missing = ids.filter((id) => !found.has(id));
    return missing.length === 0 ? found : new Map([...found, ...(await findRepeated(pool, missing))]);
  });
}

/** By the command ids of requests that have repeated them under their Idempotency-Key. */
async function findRepeated(pool: Deps["pool"], commandIds: readonly string[]): Promise<Map<string, Cashflow>> {
  const repeated = await listRepetitions(pool, commandIds);
  if (repeated.length === 0) return new Map();
  const ids = repeated.map(({ operationId }) => operationId);
  const byId = await listCashflows(pool, ids);
  return new Map(
    repeated.flatMap(({ commandId, operationId }) => {
      const operation = byId.get(operationId);
      return operation === undefined ? [] : [[commandId, operation] as const];
    }),
  );
}

/**
 * The recorded operation. Not found: the request was never recorded, so no other service was called for it. Removed: it is so old that its
 * record may have been removed.
 */
export async function getOperation(
  { pool, now }: Pick<Deps, "pool" | "now">,
  read: OperationReads,
  { operationId }: GetOperationRequest,
): Promise<Operation> {
  const recorded = await read(operationId);
  if (recorded !== undefined) return operationMessage(recorded, now());
  const requestedAt = instantOfId(operationId);
  if (requestedAt !== undefined && isOldEnough(requestedAt, now())) {
    const removedBefore = await findRemovedBefore(pool, OPERATIONS);
    if (mayBeRemoved(requestedAt, removedBefore)) throw refuse("operation_removed", REMOVED);
  }
  throw refuse("operation_not_found", `Operation ${operationId} is not recorded.`);
}

const { PENDING, EXECUTED, NOT_EXECUTED, UNKNOWN, REVIEW } = OperationOutcome;
const OUTCOMES = { PENDING, EXECUTED, NOT_EXECUTED, UNKNOWN, REVIEW };
const QUEUE_STATES = { WAITING: QueueState.WAITING, RUNNING: QueueState.RUNNING };
const { UNSPECIFIED } = OperationAction;
const ACTIONS = { deposit: OperationAction.DEPOSIT, withdraw: OperationAction.WITHDRAW } as const;

/** Deposits and withdrawals, newest first. */
export async function listOperations(deps: Deps, request: ListOperationsRequest): Promise<ListOperationsResponse> {
  const { login, comment, beforeId, limit } = request;
  if (limit < 1 || limit > MAX_PAGE_SIZE) {
    const errors = [{ field: "limit", code: "out_of_range", message: `limit must be from 1 to ${MAX_PAGE_SIZE}.` }];
    throw refuse("validation_failed", "The request is invalid.", { errors });
  }
  const action = keyOf(ACTIONS, request.action);
  const isOfOthers = action === undefined && (request.action ?? UNSPECIFIED) !== UNSPECIFIED;
  const named = request.keys?.anyOf.flatMap((key) => namedByKey(key) ?? []);
  if (isOfOthers || named?.length === 0) return { items: [], hasMore: false };
  const { masterLogin, fromId, externalId } = request;
  const queueState = keyOf(QUEUE_STATES, request.queueState);
  const own = { action, masterLogin, fromId, externalId, queueState, named, outcome: keyOf(OUTCOMES, request.outcome) };
  const filter = { login, comment, ...own, beforeId, limit: limit + 1 };
  const now = deps.now();
  const { items, hasMore } = fittingPage(await readOperations(deps.pool, filter, now), limit, ({ labels }) => labels);
  return { items: items.map((recorded) => operationMessage(recorded, now)), hasMore };
}

/** With the keys of its fees and transfers. */
function operationMessage(recorded: Cashflow, now: Date): Operation {
  const { operationId, action, login, amount, comment, refusal, dealId, createdAt, finishedAt, isImported } = recorded;
  const key = transferKeyOf(recorded);
  return {
    operationId,
    action: ACTIONS[action],
    login,
    amount: usdToProto(amount),
    comment,
    outcome: OperationOutcome[currentOutcome(recorded, now)],
    refusalCode: refusal?.code ?? "",
    dealId,
    createdAt,
    finishedAt,
    reference: "",
    legs: [],
    feeKey: action === "withdraw" && !isImported ? key : "",
    transferKeys: [key],
    imported: isImported,
    masterLogin: recorded.masterLogin,
    ...queueMessage(recorded),
    labels: recorded.labels,
  };
}

/** Nothing for an operation whose first try runs: it is not known yet whether it waits. */
function queueMessage({ queueState, queueUntil, state }: Cashflow): Pick<Operation, "queueState" | "queuedUntil"> {
  if (queueState === undefined || queueState === "WANTED") return {};
  return { queueState: state === "RECORDED" ? QueueState[queueState] : QueueState.ENDED, queuedUntil: queueUntil };
}
