import { InvestorItem } from "./schemas/investor.ts";
import { MasterItem } from "./schemas/master.ts";
import { OpaquePage } from "./schemas/page.ts";
import { engineFilter as engine } from "../fields/currency.ts";
import { DEFAULT_LIMIT, limit100 } from "./schemas/request-fields.ts";
import { pageRoute } from "../http/page-route.ts";

export const listMasters = pageRoute({
  operationId: "listMasters",
  method: "GET",
  url: "/api/v1/master/directory",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "List Masters",
  description:
    "All Masters, ascending by id, page by page. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Masters.",
  filter: { engine },
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: OpaquePage("MasterPage", MasterItem),
  refusals: [],

  async call({ accounts }, { limit }, afterId, context) {
    const { items, hasMore } = await accounts.listMasters({ afterId, limit }, context);
    return { items: items.map(({ master }) => master), hasMore };
  },
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.id : undefined),
});

export const listInvestors = pageRoute({
  operationId: "listInvestors",
  method: "GET",
  url: "/api/v1/investor/directory",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "List Investors",
  description:
    "All Investors, ascending by id, page by page. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Investors.",
  filter: { engine },
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: OpaquePage("InvestorPage", InvestorItem),
  refusals: [],

  async call({ accounts }, { limit }, afterId, context) {
    const { items, hasMore } = await accounts.listInvestors({ afterId, limit }, context);
    return { items: items.map(({ investor }) => investor), hasMore };
  },
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.id : undefined),
});
