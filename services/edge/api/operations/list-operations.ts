import type { CallContext } from "#kernel/contract/contract.ts";
import { firstIdAt } from "#kernel/values/uuid-time.ts";
import {
  type ListOperationsRequest,
  type ListOperationsResponse,
  type Operation,
  OperationOutcome,
} from "#proto/pamm/funding/v1/funding.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { choice } from "../../fields/field.ts";
import { optional, or } from "../../fields/message.ts";
import { OpaquePage } from "../../fields/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import type { Deps } from "../../http/route.ts";
import { externalIdFilter } from "../schemas/labels.ts";
import {
  actionNamed,
  operationAction,
  OperationReply,
  outcomeField,
  outcomeNamed,
  queueStateNamed,
} from "../schemas/operation.ts";
import { fromField, isPeriod, toField } from "../schemas/period.ts";
import { commentFilter, loginField, masterLogin, ticketFilter } from "../schemas/request-fields.ts";
import { withLegs } from "./movements.ts";
import { READERS } from "./operations.ts";

/** Whether all pages reach as far as the operation: of a page that was cut, older ones follow, which must not come after it. */
function isCovered(pages: readonly ListOperationsResponse[]): (operation: Operation) => boolean {
  const ends = pages.flatMap(({ items, hasMore }) => (hasMore ? [items.at(-1)?.operationId ?? ""] : []));
  return ({ operationId }) => ends.every((end) => operationId >= end);
}

/** Ids grow with time, and are compared byte by byte everywhere. */
function newestFirst(left: Operation, right: Operation): number {
  return left.operationId < right.operationId ? 1 : -1;
}

/** The keys of which the operations that have made a deal have one; none for a deal that no operation has made. */
async function keysOfTicket(
  { platform, fees, subscriptions }: Deps,
  ticket: string,
  context: CallContext,
): Promise<readonly string[]> {
  const { key, kind } = await platform.findTransferOfDeal({ dealId: BigInt(ticket) }, context);
  switch (kind) {
    case MovementKind.DEPOSIT:
    case MovementKind.WITHDRAWAL:
    case MovementKind.EXIT:
      return [key];
    case MovementKind.MIRROR:
      return (await subscriptions.findMirrored({ key }, context)).keys;
    case MovementKind.FEE_DEBIT:
    case MovementKind.FEE_CREDIT:
    case MovementKind.REVERSAL:
      return (await fees.findKeysOfItem({ key }, context)).keys;
    default:
      return [];
  }
}

export const listOperations = pageRoute("GET /api/v1/operations", {
  ...READERS,
  summary: "List operations",
  description:
    "Deposits, withdrawals, assigns and unassigns, newest first, by the time at which they were requested. Filters are combined; `from` and `to` are about `requested_at`. Only deposits and withdrawals have a comment. `master_login` is the Master of an assign or unassign, and for a deposit or withdrawal the one that the Investor followed when it was recorded. `ticket` finds the operation of a deal: usually one; a mirror carries all deposits and withdrawals that it nets, and is known for 180 days after it was executed, unless the operator keeps it longer. The page is empty for a deal that no operation has made: a trade, a credit of a result, a fee of a week that no withdrawal or unassign has collected, a deal of another party, or none that is known.",
  returns: "A page of operations.",
  filter: {
    login: or(loginField("Login of the Investor.", "investor"), ""),
    comment: optional(commentFilter),
    outcome: optional(outcomeField),
    action: optional(operationAction.of("Only operations of this action.", "deposit")),
    master_login: optional(masterLogin),
    external_id: externalIdFilter,
    queue_state: optional(
      choice(
        { waiting: "Operations that wait until their Master is flat.", running: "Those that are being executed." },
        { description: "Only open operations in this state of the queue.", example: "waiting" },
      ),
    ),
    ticket: optional(ticketFilter),
    from: optional(fromField("that were requested")),
    to: optional(toField("that were requested")),
  },
  cursor: "uuid",
  reply: OpaquePage("OperationPage", OperationReply, "Newest first."),
  check: isPeriod("from", "to"),

  async call(deps, { ticket, limit, outcome, action, queueState, from, to, ...filter }, after, context) {
    const keys = ticket === undefined ? undefined : await keysOfTicket(deps, ticket, context);
    if (keys?.length === 0) return { items: [], next: undefined };
    const wanted: ListOperationsRequest = {
      ...filter,
      outcome: outcome === undefined ? OperationOutcome.UNSPECIFIED : outcomeNamed(outcome),
      action: action && actionNamed(action),
      queueState: queueState && queueStateNamed(queueState),
      keys: keys && { anyOf: [...keys] },
      // Ids begin with the time of their request, so a period is a range of ids.
      fromId: from && firstIdAt(from),
      beforeId: after === "" && to !== undefined ? firstIdAt(to) : after,
      limit,
    };
    const isMoney = action === "deposit" || action === "withdraw";
    const recorders = [
      ...(action === undefined || isMoney ? [deps.funding] : []),
      ...(isMoney ? [] : [deps.subscriptions]),
    ];
    const pages = await Promise.all(recorders.map((service) => service.listOperations(wanted, context)));
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
