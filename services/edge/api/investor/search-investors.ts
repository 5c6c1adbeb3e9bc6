import { accountFilter, accountPage } from "../schemas/account-filter.ts";
import { InvestorProfile } from "../schemas/investor.ts";
import { OpaquePage } from "../schemas/page.ts";
import { route } from "../../http/route.ts";

const LIST = "investors by filter";

export const searchInvestors = route({
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
  query: accountFilter,
  reply: OpaquePage("InvestorProfilePage", InvestorProfile),
  refusals: [],
  check: ({ query }, deps) => accountPage(LIST, query, deps).errors,

  async handle(deps, { query }, context) {
    const { request, next } = accountPage(LIST, query, deps);
    const { items, hasMore } = await deps.accounts.listInvestors(request, context);
    const shown = items.map(InvestorProfile.of);
    return { items: shown, ...next(hasMore ? shown.at(-1)?.id : undefined) };
  },
});
