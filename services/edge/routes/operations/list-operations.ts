import { Type } from "typebox";
import type { Operation } from "#proto/pamm/funding/v1/funding.ts";
import { commentFilter, DEFAULT_LIMIT, limit100, loginField, opaqueCursor } from "../../schemas/request-fields.ts";
import {
  OperationReply,
  operationReply,
  outcomeField,
  outcomeNamed,
  type OutcomeName,
} from "../../schemas/operation.ts";
import { cursorErrors, OpaquePage } from "../../schemas/page.ts";
import { type Deps, route } from "../../route.ts";
import { READERS } from "./readers.ts";
import { withLegs } from "./with-legs.ts";

/** Before any operation: the newest come first. */
const NEWEST = "";

type Query = {
  readonly login?: string | undefined;
  readonly comment?: string | undefined;
  readonly outcome?: OutcomeName | undefined;
  readonly cursor?: string | undefined;
};

export const listOperations = route({
  method: "GET",
  url: "/api/v1/operations",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "List operations",
  description:
    "Deposits, withdrawals, assigns and unassigns, newest first. Filters are combined. Only deposits and withdrawals have a comment.",
  query: Type.Object({
    login: Type.Optional(loginField("Login of the Investor.")),
    comment: Type.Optional(commentFilter),
    outcome: Type.Optional(outcomeField),
    limit: Type.Optional(limit100(DEFAULT_LIMIT)),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: OpaquePage(OperationReply, "Newest first."),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, query)),

  async handle(deps, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const requested = {
      login: query.login ?? "",
      comment: query.comment,
      outcome: outcomeNamed(query.outcome),
      beforeId: readCursor(deps, query) ?? NEWEST,
      limit,
    };
    const pages = await Promise.all([
      deps.funding.listOperations(requested, context),
      deps.subscriptions.listOperations(requested, context),
    ]);
    const merged = pages.flatMap(({ items }) => items).toSorted(newestFirst);
    const items = merged.slice(0, limit);
    const last = items.at(-1);
    const hasMore = merged.length > limit || pages.some((page) => page.hasMore);
    return {
      items: (await withLegs(deps, items, context)).map(operationReply),
      next_cursor: hasMore && last !== undefined ? deps.cursors.writeUuid(listName(query), last.operationId) : null,
      has_more: hasMore,
    };
  },
});

/** Ids grow with time, and are compared byte by byte everywhere. */
function newestFirst(left: Operation, right: Operation): number {
  return left.operationId < right.operationId ? 1 : -1;
}

/** A cursor of one filter means nothing under another. */
function listName({ login, comment, outcome }: Query): string {
  return `operations?${JSON.stringify([login, comment, outcome])}`;
}

function readCursor({ cursors }: Deps, query: Query): string | undefined {
  return query.cursor === undefined ? NEWEST : cursors.readUuid(listName(query), query.cursor);
}
