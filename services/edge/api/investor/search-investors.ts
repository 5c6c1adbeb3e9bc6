import { accountFilter } from "../schemas/account-filter.ts";
import { InvestorProfile } from "../schemas/investor.ts";
import { OpaquePage } from "../schemas/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import { isPeriod } from "../schemas/period.ts";
import { DEFAULT_LIMIT, limit100 } from "../schemas/request-fields.ts";

export const searchInvestors = pageRoute({
  operationId: "listInvestorProfiles",
  method: "GET",
  url: "/api/v1/investors",
  scope: "investors:read",
  class: "read",
  tag: "Investors",
  summary: "Search Investors",
  description:
    "Investors with your labels, page by page. Filters are combined. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Investors.",
  filter: accountFilter,
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: OpaquePage("InvestorProfilePage", InvestorProfile),
  refusals: [],
  check: isPeriod("created_from", "created_to"),

  call: ({ accounts }, { limit, ...filter }, afterId, context) =>
    accounts.listInvestors({ filter, afterId, limit }, context),
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.investor?.id : undefined),
});
