import { Type } from "typebox";
import { BreakItem, breakItem, CHECKED, CheckItem, checkItem } from "../../schemas/break.ts";
import { choice } from "../../schemas/field.ts";
import { DEFAULT_LIMIT, limit100, opaqueCursor } from "../../schemas/request-fields.ts";
import { cursorErrors, OpaquePage, readCursor } from "../../schemas/page.ts";
import { route } from "../../route.ts";
import { pageOfServices, serviceOf } from "./services.ts";

const LIST = "breaks";

export const listBreaks = route({
  method: "GET",
  url: "/api/v1/ops/breaks",
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "List reconciliation breaks",
  description:
    "Open breaks by service and number, page by page. Each page also lists all checks and when each was last completed. Unreachable services are listed in `unreachable`; their breaks and checks are missing.",
  query: Type.Object({ limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: Type.Object({
    ...OpaquePage(BreakItem).properties,
    checks: Type.Array(CheckItem),
    unreachable: Type.Array(choice(CHECKED, { description: "Name of a service.", example: "fee" }), {
      description: "Services that could not be reached. Their breaks and checks are missing.",
    }),
  }),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, LIST, query.cursor)),

  async handle(deps, { query }, context) {
    const { found, next, answers, unreachable } = await pageOfServices(
      {
        services: CHECKED,
        cursor: readCursor(deps, LIST, query.cursor) ?? 0n,
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        list: async (service, page, within) => ({
          service,
          ...(await serviceOf(deps, service).listBreaks({ ...page, withoutChecks: false }, within)),
        }),
      },
      context,
    );
    return {
      items: found.map(({ service, item }) => breakItem(service, item)),
      next_cursor: next === undefined ? null : deps.cursors.write(LIST, next),
      has_more: next !== undefined,
      checks: answers.flatMap(({ service, checks }) => checks.map((check) => checkItem(service, check))),
      unreachable,
    };
  },
});
