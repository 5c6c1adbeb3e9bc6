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
  examples: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      answer: {
        items: [
          {
            engine: "PAMM",
            id: 8,
            mt5_login: "3000003",
            name: "Ada",
            email: "ada@example.com",
            external_id: "CRM-7001",
            metadata: { segment: "retail" },
            created_at: "2026-01-02T03:04:05.678000",
          },
        ],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  check: ({ query }, deps) => accountPage(LIST, query, deps).errors,

  async handle(deps, { query }, context) {
    const { request, next } = accountPage(LIST, query, deps);
    const { items, hasMore } = await deps.accounts.listInvestors(request, context);
    const shown = items.map(InvestorProfile.of);
    return { items: shown, ...next(hasMore ? shown.at(-1)?.id : undefined) };
  },
});
