import { Type } from "typebox";
import { OpaquePage } from "../schemas/page.ts";
import { fromField, isPeriod, toField } from "../schemas/period.ts";
import { DEFAULT_LIMIT, investorLogin, limit100, masterLogin } from "../schemas/request-fields.ts";
import { statusFilter, SubscriptionItem } from "../schemas/subscription.ts";
import { pageRoute } from "../../http/page-route.ts";
import { or } from "../../fields/message.ts";

export const searchSubscriptions = pageRoute({
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
  filter: {
    master_login: or(masterLogin, ""),
    investor_login: or(investorLogin, ""),
    status: statusFilter,
    from: Type.Optional(fromField("that began")),
    to: Type.Optional(toField("that began")),
  },
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: OpaquePage("SubscriptionPage", SubscriptionItem, "Newest first."),
  refusals: [],
  check: isPeriod("from", "to"),
  call: ({ subscriptions }, { limit, ...filter }, beforeId, context) =>
    subscriptions.searchSubscriptions({ ...filter, beforeId, limit }, context),
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.id : undefined),
});
