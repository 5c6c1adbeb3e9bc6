import { accountFilter, accountPage } from "../schemas/account-filter.ts";
import { MasterProfile } from "../schemas/master.ts";
import { OpaquePage } from "../schemas/page.ts";
import { route } from "../../http/route.ts";

const LIST = "masters by filter";

export const searchMasters = route({
  operationId: "listMasterProfiles",
  method: "GET",
  url: "/api/v1/masters",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Search Masters",
  description:
    "Masters with your labels, page by page. Filters are combined. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Masters.",
  query: accountFilter,
  reply: OpaquePage("MasterProfilePage", MasterProfile),
  refusals: [],
  check: ({ query }, deps) => accountPage(LIST, query, deps).errors,

  async handle(deps, { query }, context) {
    const { request, next } = accountPage(LIST, query, deps);
    const { items, hasMore } = await deps.accounts.listMasters(request, context);
    const shown = items.map(MasterProfile.of);
    return { items: shown, ...next(hasMore ? shown.at(-1)?.id : undefined) };
  },
});
