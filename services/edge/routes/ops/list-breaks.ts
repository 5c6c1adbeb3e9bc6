import { Type } from "typebox";
import { BreakItem, breakItem, CHECKED, CheckItem, checkItem } from "../../schemas/break.ts";
import { choice } from "../../schemas/field.ts";
import { limit100, opaqueCursor } from "../../schemas/request-fields.ts";
import { cursorErrors, OpaquePage, readCursor } from "../../schemas/page.ts";
import { route } from "../../route.ts";
import { pageOfParts, partOf } from "./services.ts";

const DEFAULT_LIMIT = 50;
const LIST = "breaks";

export const listBreaks = route({
  method: "GET",
  url: "/api/v1/ops/breaks",
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "List what does not tie",
  description:
    "Open breaks of all services, by part and number, page by page; with every page all checks, and when each was complete. A part that cannot be reached is named in `unreachable`: nobody knows what it would have said.",
  query: Type.Object({ limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: Type.Object({
    ...OpaquePage(BreakItem).properties,
    checks: Type.Array(CheckItem),
    unreachable: Type.Array(choice(CHECKED, { description: "Name of a part of this service.", example: "fee" }), {
      description: "Parts that could not be reached, whose breaks and checks are missing here.",
    }),
  }),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, LIST, query.cursor)),

  async handle(deps, { query }, context) {
    const { found, next, answers, unreachable } = await pageOfParts(
      {
        parts: CHECKED,
        cursor: readCursor(deps, LIST, query.cursor) ?? 0n,
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        ask: async (part, page, within) => ({ part, ...(await partOf(deps, part).listBreaks(page, within)) }),
      },
      context,
    );
    return {
      items: found.map(({ part, item }) => breakItem(part, item)),
      next_cursor: next === undefined ? null : deps.cursors.write(LIST, next),
      has_more: next !== undefined,
      checks: answers.flatMap(({ part, checks }) => checks.map((check) => checkItem(part, check))),
      unreachable,
    };
  },
});
