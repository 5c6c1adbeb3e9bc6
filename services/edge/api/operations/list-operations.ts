import { Type } from "typebox";
import {
  commentFilter,
  DEFAULT_LIMIT,
  limit100,
  loginField,
  masterLogin,
  ticketFilter,
} from "../schemas/request-fields.ts";
import { choice } from "../../fields/field.ts";
import { externalIdFilter } from "../schemas/labels.ts";
import { operationAction, OperationReply, outcomeField } from "../schemas/operation.ts";
import { OpaquePage } from "../schemas/page.ts";
import { fromField, isPeriod, toField } from "../schemas/period.ts";
import { pageRoute } from "../../http/page-route.ts";
import { or } from "../../fields/message.ts";
import { isCovered, newestFirst, readersOf, requestOf } from "./operation-filter.ts";
import { keysOfTicket } from "./keys-of-ticket.ts";
import { READERS } from "./readers.ts";
import { withLegs } from "./with-legs.ts";

export const listOperations = pageRoute({
  operationId: "listOperations",
  method: "GET",
  url: "/api/v1/operations",
  ...READERS,
  class: "read",
  tag: "Operations",
  summary: "List operations",
  description:
    "Deposits, withdrawals, assigns and unassigns, newest first, by the time at which they were requested. Filters are combined; `from` and `to` are about `requested_at`. Only deposits and withdrawals have a comment. `master_login` is the Master of an assign or unassign, and for a deposit or withdrawal the one that the Investor followed when it was recorded. `ticket` finds the operation of a deal: usually one; a mirror carries all deposits and withdrawals that it nets, and is known for 180 days after it was executed, unless the operator keeps it longer. The page is empty for a deal that no operation has made: a trade, a credit of a result, a fee of a week that no withdrawal or unassign has collected, a deal of another party, or none that is known.",
  returns: "A page of operations.",
  filter: {
    login: or(loginField("Login of the Investor.", "investor"), ""),
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
    ticket: Type.Optional(ticketFilter),
    from: Type.Optional(fromField("that were requested")),
    to: Type.Optional(toField("that were requested")),
  },
  limit: limit100(DEFAULT_LIMIT),
  cursor: "uuid",
  reply: OpaquePage("OperationPage", OperationReply, "Newest first."),
  refusals: [],
  check: isPeriod("from", "to"),

  async call(deps, { ticket, limit, ...filter }, after, context) {
    const keys = ticket === undefined ? undefined : await keysOfTicket(deps, ticket, context);
    if (keys?.length === 0) return { items: [], next: undefined };
    const wanted = requestOf(filter, keys, { after, limit });
    const pages = await Promise.all(readersOf(deps, filter).map((read) => read(wanted, context)));
    const merged = pages
      .flatMap(({ items }) => items)
      .filter(isCovered(pages))
      .toSorted(newestFirst);
    const page = merged.slice(0, limit);
    const hasMore = merged.length > limit || pages.some((some) => some.hasMore);
    return { items: await withLegs(deps, page, context), next: hasMore ? page.at(-1)?.operationId : undefined };
  },
  next: ({ next }) => next,
});
