import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { optional, or } from "../../fields/message.ts";
import { OpaquePage } from "../../fields/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import { listRoute } from "../../http/route.ts";
import { fromField, isPeriod, toField } from "../schemas/period.ts";
import { investorLogin, masterLogin, wait } from "../schemas/request-fields.ts";
import { statusFilter, SubscriptionItem } from "../schemas/subscription.ts";

export const listSubscriptions = listRoute("GET /api/v1/info/subscriptions", {
  scope: "subscriptions:read",
  summary: "List subscriptions",
  description: "Subscriptions ascending by id. Filters are combined. An unknown login matches nothing.",
  returns: "All subscriptions that match.",
  query: {
    master_login: or(masterLogin, ""),
    investor_login: or(investorLogin, ""),
    status: statusFilter,
    wait: optional(wait("none of the matches is PAUSED")),
  },
  item: SubscriptionItem,

  async *pages({ subscriptions }, { query, request }, contextOfPage, poll) {
    const mayBePaused = query.status === undefined || query.status === "PAUSED";
    if (query.wait !== undefined && mayBePaused) {
      const leaving = { ...request, status: SubscriptionStatus.PAUSED, afterId: 0n, limit: 1 };
      await poll.until(
        (context) => subscriptions.listSubscriptions(leaving, context),
        ({ items }) => items.length === 0,
      );
    }
    for (let afterId = 0n; ;) {
      const filter = { ...request, limit: MAX_PAGE_SIZE, afterId };
      const { items, hasMore } = await subscriptions.listSubscriptions(filter, contextOfPage());
      const shown = items.map(SubscriptionItem.of);
      const last = hasMore ? shown.at(-1) : undefined;
      if (last === undefined) return shown;
      yield shown;
      afterId = last.id;
    }
  },
});

export const listSubscriptionPages = pageRoute("GET /api/v1/subscriptions", {
  scope: "subscriptions:read",
  summary: "Search subscriptions",
  description:
    "Subscriptions page by page, newest first: descending by `started_at`, then by id. Filters are combined; `from` and `to` are about `started_at`. An unknown login matches nothing. `GET /api/v1/info/subscriptions` has all of them in one answer.",
  returns: "A page of subscriptions.",
  filter: {
    master_login: or(masterLogin, ""),
    investor_login: or(investorLogin, ""),
    status: statusFilter,
    from: optional(fromField("that began")),
    to: optional(toField("that began")),
  },
  reply: OpaquePage("SubscriptionPage", SubscriptionItem, "Newest first."),
  check: isPeriod("from", "to"),
  call: ({ subscriptions }, { limit, ...filter }, beforeId, context) =>
    subscriptions.searchSubscriptions({ ...filter, beforeId, limit }, context),
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.id : undefined),
});
