import type { CallContext } from "#kernel/contract/contract.ts";
import {
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../http/route.ts";
import { actionNamed, type ActionName, outcomeNamed, type OutcomeName, queueStateNamed } from "../schemas/operation.ts";
import { firstIdAt } from "#kernel/uuid-time.ts";

type Filter = {
  readonly login: string;
  readonly comment: string | undefined;
  readonly outcome: OutcomeName | undefined;
  readonly action: ActionName | undefined;
  readonly masterLogin: string | undefined;
  readonly externalId: string | undefined;
  readonly queueState: "waiting" | "running" | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

/** `after` is empty on the first page. */
type Page = { readonly after: string; readonly limit: number };

/** Ids begin with the time of their request, so a period is a range of ids. `keys`: those of the ticket; undefined without one. */
export function requestOf(
  { outcome, action, queueState, from, to, ...filter }: Filter,
  keys: readonly string[] | undefined,
  { after, limit }: Page,
): ListOperationsRequest {
  return {
    ...filter,
    outcome: outcomeNamed(outcome),
    action: action && actionNamed(action),
    queueState: queueState && queueStateNamed(queueState),
    keys: keys && { anyOf: [...keys] },
    fromId: from && firstIdAt(from),
    beforeId: after === "" && to !== undefined ? firstIdAt(to) : after,
    limit,
  };
}

type Read = (request: ListOperationsRequest, context: CallContext) => Promise<ListOperationsResponse>;

/** The services that record operations of this action. */
export function readersOf({ funding, subscriptions }: Deps, { action }: Filter): Read[] {
  const isMoney = action === "deposit" || action === "withdraw";
  return [
    ...(action === undefined || isMoney ? [funding.listOperations] : []),
    ...(action === undefined || !isMoney ? [subscriptions.listOperations] : []),
  ];
}

/** Whether all pages reach as far as the operation: of a page that was cut, older ones follow, which must not come after it. */
export function isCovered(pages: readonly ListOperationsResponse[]): (operation: Operation) => boolean {
  const ends = pages.flatMap(({ items, hasMore }) => (hasMore ? [items.at(-1)?.operationId ?? ""] : []));
  return ({ operationId }) => ends.every((end) => operationId >= end);
}

/** Ids grow with time, and are compared byte by byte everywhere. */
export function newestFirst(left: Operation, right: Operation): number {
  return left.operationId < right.operationId ? 1 : -1;
}
