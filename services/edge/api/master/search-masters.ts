import { accountFilter } from "../schemas/account-filter.ts";
import { MasterProfile } from "../schemas/master.ts";
import { OpaquePage } from "../schemas/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import { isPeriod } from "../schemas/period.ts";
import { DEFAULT_LIMIT, limit100 } from "../schemas/request-fields.ts";

export const searchMasters = pageRoute({
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
  filter: accountFilter,
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: OpaquePage("MasterProfilePage", MasterProfile),
  refusals: [],
  check: isPeriod("created_from", "created_to"),

  call: ({ accounts }, { limit, ...filter }, afterId, context) =>
    accounts.listMasters({ filter, afterId, limit }, context),
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.master?.id : undefined),
});
