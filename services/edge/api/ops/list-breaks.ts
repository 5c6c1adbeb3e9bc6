import { Type } from "typebox";
import { BreakItem, CHECKED, checkedService, CheckItem } from "../schemas/break.ts";
import { list, model } from "../../fields/field.ts";
import { aboutOperationFilter, DEFAULT_LIMIT, limit100 } from "../schemas/request-fields.ts";
import { opaquePage } from "../schemas/page.ts";
import { pageRoute } from "../../http/page-route.ts";
import { aboutOperation } from "./about-operation.ts";
import { pageOfServices, serviceOf } from "./services.ts";

export const listBreaks = pageRoute({
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
  filter: { operation_id: Type.Optional(aboutOperationFilter) },
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: model("BreakPage", "A page of breaks, with all checks.", {
    ...opaquePage(BreakItem, "By service, then ascending by number."),
    checks: list(CheckItem, { description: "All checks, on every page." }),
    unreachable: list(checkedService.of("Name of a service.", "fee"), {
      description:
        "Services that could not be reached. Their breaks and checks are missing; with `operation_id` also breaks about movements that only they know.",
    }),
  }),
  refusals: ["operation_not_found", "operation_removed"],

  async call(deps, { operationId, limit }, after, context) {
    const about = await aboutOperation(deps, operationId, context);
    const { answers, unreachable, ...page } = await pageOfServices(
      {
        services: CHECKED,
        after,
        limit,
        list: (service, part, within) =>
          serviceOf(deps, service).listBreaks({ ...part, withoutChecks: false, about: about.names[service] }, within),
      },
      context,
    );
    return {
      ...page,
      checks: answers.flatMap(({ service, checks }) => checks.map((check) => ({ ...check, service }))),
      unreachable: CHECKED.filter((service) => [...unreachable, ...about.unreachable].includes(service)),
    };
  },
  next: ({ next }) => next,
});
