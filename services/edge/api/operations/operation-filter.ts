import type { CallContext } from "#kernel/contract/contract.ts";
import {
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
} from "#proto/pamm/funding/v1/funding.ts";
import type { Deps } from "../../http/route.ts";
import { actionNamed, type ActionName, outcomeNamed, type OutcomeName, queueStateNamed } from "../schemas/operation.ts";
import { pageAt } from "../schemas/page.ts";
import { instantOf } from "../schemas/period.ts";
import { firstIdAt } from "#kernel/uuid-time.ts";

/** Before any operation: the newest come first. */
export const NEWEST = "";

type Query = {
  readonly login?: string | undefined;
  readonly comment?: string | undefined;
  readonly outcome?: OutcomeName | undefined;
  readonly action?: ActionName | undefined;
  readonly master_login?: string | undefined;
  readonly external_id?: string | undefined;
  readonly queue_state?: "waiting" | "running" | undefined;
  readonly ticket?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
};

type Page = { readonly cursor: string; readonly limit: number };

/** Ids begin with the time of their request, so a period is a range of ids. `keys`: those of the ticket; undefined without one. */
export function requestOf(
  query: Query,
  keys: readonly string[] | undefined,
  { cursor, limit }: Page,
): ListOperationsRequest {
  const { login = "", comment, outcome, action, master_login: masterLogin, external_id: externalId } = query;
  const [from, to] = [instantOf(query.from), instantOf(query.to)];
  return {
    login,
    comment,
    outcome: outcomeNamed(outcome),
    action: action && actionNamed(action),
    masterLogin,
    externalId,
    ...(query.queue_state !== undefined && { queueState: queueStateNamed(query.queue_state) }),
    ...(keys !== undefined && { keys: { anyOf: [...keys] } }),
    fromId: from && firstIdAt(from),
    beforeId: cursor === NEWEST && to !== undefined ? firstIdAt(to) : cursor,
    limit,
  };
}

type Read = (request: ListOperationsRequest, context: CallContext) => Promise<ListOperationsResponse>;

/** The services that record operations of this action. */
export function readersOf({ funding, subscriptions }: Deps, { action }: Query): Read[] {
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

export function pageOf(query: Query, { cursors }: Deps) {
  return pageAt(cursors.uuid, listName(query), query.cursor);
}

/** A cursor of one filter means nothing under another. */
function listName(query: Query): string {
  const {
    login,
    comment,
    outcome,
    action,
    master_login: master,
    external_id: externalId,
    queue_state: queue,
    ticket,
  } = query;
  const period = [instantOf(query.from), instantOf(query.to)];
  return `operations?${JSON.stringify([login, comment, outcome, action, master, externalId, queue, ticket, ...period])}`;
}
