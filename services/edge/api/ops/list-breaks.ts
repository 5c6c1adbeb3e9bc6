import { Type } from "typebox";
import { BreakItem, breakItem, CHECKED, checkedService, CheckItem, checkItem } from "../schemas/break.ts";
import { model } from "../../fields/field.ts";
import { aboutOperationFilter, DEFAULT_LIMIT, limit100, opaqueCursor } from "../schemas/request-fields.ts";
import { opaquePage, pageAt } from "../schemas/page.ts";
import { type Deps, route } from "../../http/route.ts";
import { aboutOperation } from "./about-operation.ts";
import { pageOfServices, serviceOf } from "./services.ts";
import { OPEN_BREAK } from "./examples.ts";

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
  examples: [
    {
      name: "page",
      summary: "Two breaks; one service is unreachable",
      request: { query: { limit: "2" } },
      answer: {
        items: [
          { id: "platform-17", service: "platform", ...OPEN_BREAK },
          {
            id: "subscription-17",
            service: "subscription",
            ...OPEN_BREAK,
            check: "mirror_lag",
            login: null,
            master_login: null,
            operation_ids: [],
            deal_ids: [],
          },
        ],
        next_cursor: "AAAAAAAAAEXMYM-W3_Rxn9Sb",
        has_more: true,
        checks: [
          {
            service: "platform",
            check: "deal_matching",
            title: "each applied leg is one deal of the log",
            every_seconds: 60,
            completed_at: "2026-02-03T04:05:06.789000",
            stale: false,
            error: null,
            open_breaks: 1,
          },
          {
            service: "subscription",
            check: "mirror_lag",
            title: "each applied leg is one deal of the log",
            every_seconds: 60,
            completed_at: null,
            stale: true,
            error: "it is tried again",
            open_breaks: 1,
          },
          {
            service: "fee",
            check: "fee_payments",
            title: "each applied leg is one deal of the log",
            every_seconds: 60,
            completed_at: "2026-02-03T04:05:06.789000",
            stale: false,
            error: null,
            open_breaks: 0,
          },
        ],
        unreachable: ["funding"],
      },
    },
    {
      name: "of_operation",
      summary: "The breaks about an operation",
      request: { query: { operation_id: "0198c0de-0000-7000-8000-000000000001" } },
      answer: {
        items: [{ id: "platform-17", service: "platform", ...OPEN_BREAK }],
        next_cursor: null,
        has_more: false,
        checks: [],
        unreachable: [],
      },
    },
  ],
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
