import { Type } from "typebox";
import {
  commentFilter,
  DEFAULT_LIMIT,
  limit100,
  loginField,
  masterLogin,
  opaqueCursor,
} from "../../schemas/request-fields.ts";
import { choice } from "../../schemas/field.ts";
import { externalIdFilter } from "../../schemas/labels.ts";
import { operationAction, OperationReply, operationReply, outcomeField } from "../../schemas/operation.ts";
import { cursorErrors, OpaquePage } from "../../schemas/page.ts";
import { fromField, periodErrors, toField } from "../../schemas/period.ts";
import { route } from "../../route.ts";
import {
  isCovered,
  listName,
  matches,
  NEWEST,
  newestFirst,
  readCursor,
  readersOf,
  requestOf,
} from "./operation-filter.ts";
import { READERS } from "./readers.ts";
import { withLegs } from "./with-legs.ts";

export const listOperations = route({
  operationId: "listOperations",
  method: "GET",
  url: "/api/v1/operations",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "List operations",
  description:
    "Deposits, withdrawals, assigns and unassigns, newest first, by the time at which they were requested. Filters are combined; `from` and `to` are about `requested_at`. Only deposits and withdrawals have a comment. `master_login` is the Master of an assign or unassign, and for a deposit or withdrawal the one that the Investor followed when it was recorded; deposits and withdrawals that a version before this filter recorded have none.",
  returns: "A page of operations.",
  query: Type.Object({
    login: Type.Optional(loginField("Login of the Investor.", "investor")),
    comment: Type.Optional(commentFilter),
    outcome: Type.Optional(outcomeField),
    action: Type.Optional(operationAction.of("Only operations of this action.", "deposit")),
    master_login: Type.Optional(masterLogin),
    external_id: externalIdFilter,
    queue_state: Type.Optional(
      choice(
        { waiting: "Operations that wait until their Master is flat.", running: "Those that are being executed." },
        { description: "Only open operations in this state of the queue.", example: "waiting" },
      ),
    ),
    from: Type.Optional(fromField("that were requested")),
    to: Type.Optional(toField("that were requested")),
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
            master_login: "3000001",
            amount: 250.5,
            currency: "USD",
            comment: "CRM-2026-0001",
            external_id: "CRM-7001",
            metadata: { segment: "retail" },
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
            queue_state: null,
            expires_at: null,
            imported: false,
            requested_at: "2025-08-19T05:47:11.232000",
            created_at: "2026-01-02T03:04:05.678000",
            finished_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: "AZjA3gAAcACAAAAAAAAAAdH5DltzGcTJdXCC",
        has_more: true,
      },
    },
  ],
  check: ({ query }, deps) => [
    ...periodErrors(["from", query.from], ["to", query.to]),
    ...cursorErrors(readCursor(deps, query)),
  ],

  async handle(deps, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const wanted = requestOf(query, readCursor(deps, query) ?? NEWEST, limit);
    const pages = await Promise.all(readersOf(deps, query).map((read) => read(wanted, context)));
    const merged = pages
      .flatMap(({ items }) => items)
      .filter(isCovered(pages))
      .toSorted(newestFirst);
    const page = merged.slice(0, limit);
    const last = page.at(-1);
    const hasMore = merged.length > limit || pages.some((some) => some.hasMore);
    const items = page.filter((operation) => matches(operation, wanted));
    return {
      items: (await withLegs(deps, items, context)).map(operationReply),
      next_cursor: hasMore && last !== undefined ? deps.cursors.writeUuid(listName(query), last.operationId) : null,
      has_more: hasMore,
    };
  },
});
