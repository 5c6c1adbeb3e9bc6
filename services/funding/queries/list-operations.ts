import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import {
  OperationOutcome,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import type { CurrentOutcome } from "../domain/current-outcome.ts";
import { refuse } from "../refusals.ts";
import { getCashflow } from "../store/cashflows.ts";
import { listOperationIds } from "../store/ledger.ts";
import { operationMessage } from "./get-operation.ts";

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
  const ids = await listOperationIds(deps.pool, filter, deps.now());
  const items: Operation[] = [];
  for (const id of ids.slice(0, limit)) items.push(await operationMessage(deps, await getCashflow(deps.pool, id)));
  return { items, hasMore: ids.length > limit };
}
