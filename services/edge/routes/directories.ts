import { Type } from "typebox";
import { investorItem, InvestorItem } from "../schemas/investor.ts";
import { masterItem, MasterItem } from "../schemas/master.ts";
import { cursorErrors, listName, OpaquePage, readCursor } from "../schemas/page.ts";
import { DEFAULT_LIMIT, engine, limit100, opaqueCursor } from "../schemas/request-fields.ts";
import { route } from "../route.ts";

export const listMasters = route({
  method: "GET",
  url: "/api/v1/master/directory",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "List Masters",
  description: "All Masters, ascending by id, page by page.",
  query: Type.Object({ engine, limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: OpaquePage(MasterItem),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, listName("masters", query), query.cursor)),

  async handle(deps, { query }, context) {
    const list = listName("masters", query);
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const afterId = readCursor(deps, list, query.cursor) ?? 0n;
    const { items, hasMore } = await deps.accounts.listMasters({ afterId, limit }, context);
    const last = hasMore ? items.at(-1) : undefined;
    return {
      items: items.map(masterItem),
      next_cursor: last === undefined ? null : deps.cursors.write(list, last.id),
      has_more: hasMore,
    };
  },
});

export const listInvestors = route({
  method: "GET",
  url: "/api/v1/investor/directory",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "List Investors",
  description: "All Investors, ascending by id, page by page.",
  query: Type.Object({ engine, limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: OpaquePage(InvestorItem),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, listName("investors", query), query.cursor)),

  async handle(deps, { query }, context) {
    const list = listName("investors", query);
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const afterId = readCursor(deps, list, query.cursor) ?? 0n;
    const { items, hasMore } = await deps.accounts.listInvestors({ afterId, limit }, context);
    const last = hasMore ? items.at(-1) : undefined;
    return {
      items: items.map(investorItem),
      next_cursor: last === undefined ? null : deps.cursors.write(list, last.id),
      has_more: hasMore,
    };
  },
});
