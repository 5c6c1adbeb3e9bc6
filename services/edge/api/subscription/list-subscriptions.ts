import { Type } from "typebox";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { investorLogin, masterLogin, wait } from "../schemas/request-fields.ts";
import { statusFilter, SubscriptionItem } from "../schemas/subscription.ts";
import { or } from "../../fields/message.ts";
import { listRoute } from "../../http/route.ts";

export const listSubscriptions = listRoute({
  operationId: "listSubscriptions",
  method: "GET",
  url: "/api/v1/info/subscriptions",
  scope: "subscriptions:read",
  class: "read",
  tag: "Subscriptions",
  summary: "List subscriptions",
  description: "Subscriptions ascending by id. Filters are combined. An unknown login matches nothing.",
  returns: "All subscriptions that match.",
  query: Type.Object({
    master_login: or(masterLogin, ""),
    investor_login: or(investorLogin, ""),
    status: statusFilter,
    wait: Type.Optional(wait("none of the matches is PAUSED")),
  }),
  item: SubscriptionItem,
  refusals: [],

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
