import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import {
  OperationOutcome,
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../deps.ts";
import type { OutcomeSoFar } from "../domain/outcome-so-far.ts";
import { refuse } from "../refusals.ts";
import { getCashflow } from "../store/cashflows.ts";
import { listOperationIds } from "../store/ledger.ts";
import { describe } from "./operation.ts";

const MOST_PER_PAGE = 1_000;
/** So many are described at the same time: the platform is asked about each. */
const AT_ONCE = 8;
/** What platform does not say by then is left out. */
const DESCRIBE_MS = 2_000;

const OUTCOMES: Partial<Readonly<Record<OperationOutcome, OutcomeSoFar>>> = {
  [OperationOutcome.PENDING]: "PENDING",
  [OperationOutcome.EXECUTED]: "EXECUTED",
  [OperationOutcome.NOT_EXECUTED]: "NOT_EXECUTED",
  [OperationOutcome.UNKNOWN]: "UNKNOWN",
  [OperationOutcome.REVIEW]: "REVIEW",
};

/** Deposits and withdrawals, the newest first. */
export async function listOperations(
  deps: Deps,
  request: ListOperationsRequest,
  context: CallContext,
): Promise<ListOperationsResponse> {
  const { login, comment, beforeId, limit } = request;
  if (limit < 1 || limit > MOST_PER_PAGE) {
    const errors = [{ field: "limit", code: "out_of_range", message: `limit must be from 1 to ${MOST_PER_PAGE}` }];
    throw refuse("validation_failed", "the request is not valid", { errors });
  }
  const filter = { login, comment, outcome: OUTCOMES[request.outcome], beforeId, limit: limit + 1 };
  const ids = await listOperationIds(deps.pool, filter, deps.now());
  const soon = childContext(context, { withinMs: DESCRIBE_MS });
  const items: Operation[] = [];
  for (let from = 0; from < limit && from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, Math.min(from + AT_ONCE, limit));
    items.push(...(await Promise.all(some.map((id) => describeById(deps, id, soon)))));
  }
  return { items, hasMore: ids.length > limit };
}

async function describeById(deps: Deps, id: string, context: CallContext): Promise<Operation> {
  return await describe(deps, await getCashflow(deps.pool, id), context);
}
