import { Type } from "typebox";
import { BreakItem, breakItem, CHECKED, checkedService, CheckItem, checkItem } from "../schemas/break.ts";
import { model } from "../../fields/field.ts";
import { aboutOperationFilter, DEFAULT_LIMIT, limit100, opaqueCursor } from "../schemas/request-fields.ts";
import { opaquePage, pageAt } from "../schemas/page.ts";
import { type Deps, route } from "../../http/route.ts";
import { aboutOperation } from "./about-operation.ts";
import { pageOfServices, serviceOf } from "./services.ts";

export const listBreaks = route({
  operationId: "listBreaks",
  method: "GET",
  url: "/api/v1/ops/breaks",
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "List reconciliation breaks",
  description:
    "Open breaks by service and number, page by page. Each page also lists all checks and when each was last completed. Unreachable services are listed in `unreachable`; their breaks and checks are missing. `operation_id` finds the breaks of one operation; one of a whole account is found only by a deal that it names.",
  returns: "A page of breaks, and the state of every check.",
  query: Type.Object({
    operation_id: Type.Optional(aboutOperationFilter),
    limit: limit100(DEFAULT_LIMIT),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: model("BreakPage", "A page of breaks, with all checks.", {
    ...opaquePage(BreakItem, "By service, then ascending by number."),
    checks: Type.Array(CheckItem, { description: "All checks, on every page." }),
    unreachable: Type.Array(checkedService.of("Name of a service.", "fee"), {
      description:
        "Services that could not be reached. Their breaks and checks are missing; with `operation_id` also breaks about movements that only they know.",
    }),
  }),
  refusals: ["operation_not_found", "operation_removed"],
  check: ({ query }, deps) => pageOf(query, deps).errors,

  async handle(deps, { query }, context) {
    const page = pageOf(query, deps);
    const about = await aboutOperation(deps, query.operation_id, context);
    const { found, next, answers, unreachable } = await pageOfServices(
      {
        services: CHECKED,
        cursor: page.after ?? 0n,
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        list: async (service, part, within) => ({
          service,
          ...(await serviceOf(deps, service).listBreaks(
            { ...part, withoutChecks: false, about: about.names[service] },
            within,
          )),
        }),
      },
      context,
    );
    return {
      items: found.map(({ service, item }) => breakItem(service, item)),
      ...page.next(next),
      checks: answers.flatMap(({ service, checks }) => checks.map((check) => checkItem(service, check))),
      unreachable: CHECKED.filter((service) => [...unreachable, ...about.unreachable].includes(service)),
    };
  },
});

type Filter = { readonly operation_id?: string | undefined; readonly cursor?: string | undefined };

function pageOf({ operation_id: id, cursor }: Filter, { cursors }: Deps) {
  return pageAt(cursors.number, id === undefined ? "breaks" : `breaks?operation_id=${id}`, cursor);
}
