import { Type } from "typebox";
import { ActiveInvestor } from "../schemas/investor.ts";
import { masterLogin } from "../schemas/request-fields.ts";
import { listRoute } from "../../http/route.ts";

/** Names are long; a page of these always fits into one message of the broker. */
const PAGE_SIZE = 500;

export const listMasterInvestors = listRoute({
  operationId: "listMasterInvestors",
  method: "GET",
  url: "/api/v1/info/master/:master_login/investors",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "List the active Investors of a Master",
  description: "Investors whose subscription is ACTIVE, in the pool and not ended, ascending by id.",
  returns: "All active Investors of the Master.",
  params: Type.Object({ master_login: masterLogin }),
  item: ActiveInvestor,
  refusals: ["master_not_found"],

  async *pages({ subscriptions }, { params }, contextOfPage) {
    for (let afterInvestorId = 0n; ;) {
      const page = await subscriptions.listActiveInvestors(
        { masterLogin: params.master_login, afterInvestorId, limit: PAGE_SIZE },
        contextOfPage(),
      );
      const items = page.items.map(ActiveInvestor.of);
      const last = page.hasMore ? page.items.at(-1) : undefined;
      if (last === undefined) return items;
      yield items;
      afterInvestorId = last.id;
    }
  },
});
