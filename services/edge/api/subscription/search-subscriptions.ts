import { Type } from "typebox";
import { OpaquePage, pageAt } from "../schemas/page.ts";
import { fromField, instantOf, periodErrors, toField } from "../schemas/period.ts";
import { DEFAULT_LIMIT, investorLogin, limit100, masterLogin, opaqueCursor } from "../schemas/request-fields.ts";
import { statusOf, SubscriptionItem, subscriptionStatus } from "../schemas/subscription.ts";
import { type Deps, route } from "../../http/route.ts";

type Filter = {
  readonly master_login?: string | undefined;
  readonly investor_login?: string | undefined;
  readonly status?: string | undefined;
  readonly from?: string | undefined;
  readonly cursor?: string | undefined;
  readonly to?: string | undefined;
};

export const searchSubscriptions = route({
  operationId: "listSubscriptionPages",
  method: "GET",
  url: "/api/v1/subscriptions",
  scope: "subscriptions:read",
  class: "read",
  tag: "Subscriptions",
  summary: "Search subscriptions",
  description:
    "Subscriptions page by page, newest first: descending by `started_at`, then by id. Filters are combined; `from` and `to` are about `started_at`. An unknown login matches nothing. `GET /api/v1/info/subscriptions` has all of them in one answer.",
  returns: "A page of subscriptions.",
  query: Type.Object({
    master_login: Type.Optional(masterLogin),
    investor_login: Type.Optional(investorLogin),
    status: Type.Optional(subscriptionStatus.of("Only subscriptions with this status.", "ACTIVE")),
    from: Type.Optional(fromField("that began")),
    to: Type.Optional(toField("that began")),
    limit: limit100(DEFAULT_LIMIT),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: OpaquePage("SubscriptionPage", SubscriptionItem, "Newest first."),
  refusals: [],
  check: ({ query }, deps) => [...periodErrors(["from", query.from], ["to", query.to]), ...pageOf(query, deps).errors],

  async handle(deps, { query }, context) {
    const page = pageOf(query, deps);
    const { items, hasMore } = await deps.subscriptions.searchSubscriptions(
      {
        masterLogin: query.master_login ?? "",
        investorLogin: query.investor_login ?? "",
        status: statusOf(query.status),
        from: instantOf(query.from),
        to: instantOf(query.to),
        beforeId: page.after ?? 0n,
        limit: Number(query.limit ?? DEFAULT_LIMIT),
      },
      context,
    );
    return { items: items.map(SubscriptionItem.of), ...page.next(hasMore ? items.at(-1)?.id : undefined) };
  },
});

/** The same instant may be written in several ways. */
function pageOf({ master_login, investor_login, status, from, to, cursor }: Filter, { cursors }: Deps) {
  const filter = JSON.stringify([master_login, investor_login, status, instantOf(from), instantOf(to)]);
  return pageAt(cursors.number, `subscriptions?${filter}`, cursor);
}
