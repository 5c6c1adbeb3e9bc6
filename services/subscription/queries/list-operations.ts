import { pageOf } from "#kernel/page.ts";
import {
  OperationOutcome,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import { validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { listOperations as list, type OperationOutcome as RecordedOutcome } from "../store/operations.ts";
import { operationMessage } from "./get-operation.ts";
import { isPageSize } from "./page.ts";

const OUTCOMES: Partial<Readonly<Record<OperationOutcome, RecordedOutcome>>> = {
  [OperationOutcome.PENDING]: "PENDING",
  [OperationOutcome.EXECUTED]: "EXECUTED",
  [OperationOutcome.NOT_EXECUTED]: "NOT_EXECUTED",
  [OperationOutcome.UNKNOWN]: "UNKNOWN",
};

/** Assigns and unassigns, newest first. They have no comment and no manual review. */
export async function listOperations(deps: Deps, request: ListOperationsRequest): Promise<ListOperationsResponse> {
  const { login, comment, outcome, beforeId, limit } = request;
  validate(isPageSize("limit", limit));
  if (comment !== undefined || outcome === OperationOutcome.REVIEW) return { items: [], hasMore: false };
  const filter = { login, outcome: OUTCOMES[outcome], beforeId, limit: limit + 1 };
  const { items: recorded, hasMore } = pageOf(await list(deps.pool, filter, deps.now()), limit);
  const items: Operation[] = [];
  for (const operation of recorded) items.push(await operationMessage(deps, operation));
  return { items, hasMore };
}
