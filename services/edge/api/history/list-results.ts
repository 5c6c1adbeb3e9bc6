import { Type } from "typebox";
import { dayKind, pageOfPeriod, periodErrors, periodFrom, periodOf, periodTo } from "../schemas/history.ts";
import { ResultReply } from "../schemas/master-result.ts";
import { OpaquePage } from "../schemas/page.ts";
import { DEFAULT_LIMIT, limit500, masterLogin, opaqueCursor } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const listResults = route({
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
  query: Type.Object({
    from: Type.Optional(periodFrom),
    to: Type.Optional(periodTo),
    day: Type.Optional(dayKind),
    limit: limit500(DEFAULT_LIMIT),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: OpaquePage("MasterResultPage", ResultReply, "Newest first."),
  refusals: ["master_not_found"],
  check: ({ params, query }, deps) => [
    ...periodErrors(query, deps),
    ...pageOfPeriod(deps.cursors.number, "results", params.master_login, query).errors,
  ],

  async handle(deps, { params, query }, context) {
    const login = params.master_login;
    const page = pageOfPeriod(deps.cursors.number, "results", login, query);
    const [{ items, hasMore }] = await Promise.all([
      deps.subscriptions.listResults(
        {
          masterLogin: login,
          ...periodOf(query, deps),
          beforeLogNumber: page.after ?? 0n,
          limit: Number(query.limit ?? DEFAULT_LIMIT),
        },
        context,
      ),
      deps.accounts.findMaster({ login }, context),
    ]);
    return { items: items.map(ResultReply.of), ...page.next(hasMore ? items.at(-1)?.logNumber : undefined) };
  },
});
