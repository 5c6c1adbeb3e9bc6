import { Type } from "typebox";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { investorLogin, masterLogin, wait } from "../schemas/request-fields.ts";
import { statusOf, subscriptionFields, SubscriptionItem, subscriptionStatus } from "../schemas/subscription.ts";
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
    master_login: Type.Optional(masterLogin),
    investor_login: Type.Optional(investorLogin),
    status: Type.Optional(subscriptionStatus.of("Only subscriptions with this status.", "ACTIVE")),
    wait: Type.Optional(wait("none of the matches is PAUSED")),
  }),
  item: SubscriptionItem,
  refusals: [],

  async *pages({ subscriptions }, { query }, contextOfPage, poll) {
    const filter = {
      masterLogin: query.master_login ?? "",
      investorLogin: query.investor_login ?? "",
      status: statusOf(query.status),
      limit: MAX_PAGE_SIZE,
    };
    const mayBePaused = query.status === undefined || query.status === "PAUSED";
    if (query.wait !== undefined && mayBePaused) {
      const leaving = { ...filter, status: SubscriptionStatus.PAUSED, afterId: 0n, limit: 1 };
      await poll.until(
        (context) => subscriptions.listSubscriptions(leaving, context),
        ({ items }) => items.length === 0,
      );
    }
    for (let afterId = 0n; ;) {
      const page = await subscriptions.listSubscriptions({ ...filter, afterId }, contextOfPage());
      const items = page.items.map((item) => ({
        ...subscriptionFields(item),
        master_login: item.masterLogin,
        investor_login: item.investorLogin,
      }));
      const last = page.hasMore ? page.items.at(-1) : undefined;
      if (last === undefined) return items;
      yield items;
      afterId = last.id;
    }
  },
});
