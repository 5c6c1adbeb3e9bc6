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
  operationId: "listOperations",
  method: "GET",
  url: "/api/v1/operations",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "List operations",
  description:
    "Deposits, withdrawals, assigns and unassigns, newest first. Filters are combined. Only deposits and withdrawals have a comment.",
  returns: "A page of operations.",
  query: Type.Object({
    login: Type.Optional(loginField("Login of the Investor.", "investor")),
    comment: Type.Optional(commentFilter),
    outcome: Type.Optional(outcomeField),
    limit: Type.Optional(limit100(DEFAULT_LIMIT)),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: OpaquePage("OperationPage", OperationReply, "Newest first."),
  refusals: [],
  examples: [
    {
      name: "by_comment",
      summary: "The operations with a comment",
      request: { query: { login: "3000003", comment: "CRM-2026-0001", outcome: "executed", limit: "1" } },
      answer: {
        items: [
          {
            id: "0198c0de-0000-7000-8000-000000000001",
            action: "deposit",
            login: "3000003",
            amount: 250.5,
            currency: "USD",
            comment: "CRM-2026-0001",
            outcome: "executed",
            refusal: null,
            deal_id: 1234567,
            reference: "PD0F7K3M9Q2X1A",
            legs: [
              {
                login: "3000003",
                kind: "deposit",
                amount: 250.5,
                outcome: "executed",
                deal_id: 1234567,
                reference: "PD0F7K3M9Q2X1A",
                applied_at: "2026-02-03T04:05:06.789000",
              },
            ],
            imported: false,
            created_at: "2026-01-02T03:04:05.678000",
            finished_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: "AZjA3gAAcACAAAAAAAAAAdH5DltzGcTJdXCC",
        has_more: true,
      },
    },
  ],
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
