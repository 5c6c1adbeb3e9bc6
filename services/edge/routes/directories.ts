import { Type } from "typebox";
import { investorItem, InvestorItem } from "../schemas/investor.ts";
import { masterItem, MasterItem } from "../schemas/master.ts";
import { cursorErrors, listName, OpaquePage, readCursor } from "../schemas/page.ts";
import { engineFilter as engine } from "../schemas/currency.ts";
import { DEFAULT_LIMIT, limit100, opaqueCursor } from "../schemas/request-fields.ts";
import { route } from "../route.ts";
import { MASTER } from "./master/examples.ts";

export const listMasters = route({
  operationId: "listMasters",
  method: "GET",
  url: "/api/v1/master/directory",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "List Masters",
  description: "All Masters, ascending by id, page by page.",
  returns: "A page of Masters.",
  query: Type.Object({ engine, limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: OpaquePage("MasterPage", MasterItem),
  refusals: [],
  examples: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { engine: "PAMM" } },
      answer: {
        items: [MASTER],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
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
  operationId: "listInvestors",
  method: "GET",
  url: "/api/v1/investor/directory",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "List Investors",
  description: "All Investors, ascending by id, page by page.",
  returns: "A page of Investors.",
  query: Type.Object({ engine, limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: OpaquePage("InvestorPage", InvestorItem),
  refusals: [],
  examples: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { engine: "PAMM", limit: "1" } },
      answer: {
        items: [{ engine: "PAMM", id: 8, mt5_login: "3000003", name: "Ada", created_at: "2026-01-02T03:04:05.678000" }],
        next_cursor: "AAAAAAAAAAizHShb4HOfi46h",
        has_more: true,
      },
    },
  ],
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
