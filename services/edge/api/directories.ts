import { Type } from "typebox";
import { InvestorItem } from "./schemas/investor.ts";
import { MasterItem } from "./schemas/master.ts";
import { OpaquePage, pageAt } from "./schemas/page.ts";
import { engineFilter as engine } from "../fields/currency.ts";
import { DEFAULT_LIMIT, limit100, opaqueCursor } from "./schemas/request-fields.ts";
import { type Deps, route } from "../http/route.ts";

export const listMasters = route({
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
  query: Type.Object({ engine, limit: limit100(DEFAULT_LIMIT), cursor: Type.Optional(opaqueCursor) }),
  reply: OpaquePage("MasterPage", MasterItem),
  refusals: [],
  check: ({ query }, deps) => pageOf("masters", query, deps).errors,

  async handle(deps, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const page = pageOf("masters", query, deps);
    const request = { afterId: page.after ?? 0n, limit };
    const { items, hasMore } = await deps.accounts.listMasters(request, context);
    const shown = items.map(({ master }) => MasterItem["~show"](master));
    return { items: shown, ...page.next(hasMore ? shown.at(-1)?.id : undefined) };
  },
});

export const listInvestors = route({
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
  query: Type.Object({ engine, limit: limit100(DEFAULT_LIMIT), cursor: Type.Optional(opaqueCursor) }),
  reply: OpaquePage("InvestorPage", InvestorItem),
  refusals: [],
  check: ({ query }, deps) => pageOf("investors", query, deps).errors,

  async handle(deps, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const page = pageOf("investors", query, deps);
    const request = { afterId: page.after ?? 0n, limit };
    const { items, hasMore } = await deps.accounts.listInvestors(request, context);
    const shown = items.map(({ investor }) => InvestorItem["~show"](investor));
    return { items: shown, ...page.next(hasMore ? shown.at(-1)?.id : undefined) };
  },
});

type Query = { readonly engine?: string | undefined; readonly cursor?: string | undefined };

function pageOf(list: string, { engine, cursor }: Query, { cursors }: Deps) {
  return pageAt(cursors.number, `${list}?engine=${engine}`, cursor);
}
