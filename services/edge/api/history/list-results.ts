import { Type } from "typebox";
import { dayKind, periodErrors, periodFrom, periodOf, periodTo } from "../schemas/history.ts";
import { ResultReply } from "../schemas/master-result.ts";
import { OpaquePage } from "../schemas/page.ts";
import { DEFAULT_LIMIT, limit500, masterLogin } from "../schemas/request-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { or } from "../../fields/message.ts";

export const listResults = pageRoute({
  operationId: "listResults",
  method: "GET",
  url: "/api/v1/info/master/:master_login/results",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "List a Master's results",
  description:
    "The results of the Master's deals that were allocated to its pool, newest first, each with the value of a unit after it, in which other open positions have the result of their last valuation. `from` and `to` are times of `allocated_at`. A result of 0.00 is one too. Valuations without a result are in the performance by day.",
  returns: "A page of results.",
  params: Type.Object({ master_login: masterLogin }),
  filter: {
    from: Type.Optional(periodFrom),
    to: Type.Optional(periodTo),
    day: or(dayKind, "utc"),
  },
  limit: limit500(DEFAULT_LIMIT),
  cursor: "number",
  reply: OpaquePage("MasterResultPage", ResultReply, "Newest first."),
  refusals: ["master_not_found"],
  check: ({ query }, deps) => periodErrors(query, deps),

  async call(deps, { masterLogin, limit, ...period }, beforeLogNumber, context) {
    const request = { masterLogin, ...periodOf(period, deps), beforeLogNumber, limit };
    const [page] = await Promise.all([
      deps.subscriptions.listResults(request, context),
      deps.accounts.findMaster({ login: masterLogin }, context),
    ]);
    return page;
  },
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.logNumber : undefined),
});
