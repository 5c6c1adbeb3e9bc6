import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import {
  OperationOutcome,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import { validate } from "../commands/validate.ts";
import type { Deps } from "../deps.ts";
import { listOperations as list, type OperationOutcome as RecordedOutcome } from "../store/operations.ts";
import { describe } from "./operation.ts";
import { isPageSize, pageOf } from "./page.ts";

/** So many are described at the same time: the platform is asked about each. */
const AT_ONCE = 8;
/** What platform does not say by then is left out. */
const DESCRIBE_MS = 2_000;

const OUTCOMES: Partial<Readonly<Record<OperationOutcome, RecordedOutcome>>> = {
  [OperationOutcome.PENDING]: "PENDING",
  [OperationOutcome.EXECUTED]: "EXECUTED",
  [OperationOutcome.NOT_EXECUTED]: "NOT_EXECUTED",
  [OperationOutcome.UNKNOWN]: "UNKNOWN",
};

/** Assigns and unassigns, the newest first. They have no comment, and no person ever reviews one. */
export async function listOperations(
  deps: Deps,
  request: ListOperationsRequest,
  context: CallContext,
): Promise<ListOperationsResponse> {
  const { login, comment, outcome, beforeId, limit } = request;
  validate(isPageSize("limit", limit));
  if (comment !== undefined || outcome === OperationOutcome.REVIEW) return { items: [], hasMore: false };
  const filter = { login, outcome: OUTCOMES[outcome], beforeId, limit: limit + 1 };
  const { items: recorded, hasMore } = pageOf(await list(deps.pool, filter, deps.now()), limit);
  const soon = childContext(context, { withinMs: DESCRIBE_MS });
  const items: Operation[] = [];
  for (let from = 0; from < recorded.length; from += AT_ONCE) {
    const some = recorded.slice(from, from + AT_ONCE);
    items.push(...(await Promise.all(some.map((operation) => describe(deps, operation, soon)))));
  }
  return { items, hasMore };
}
