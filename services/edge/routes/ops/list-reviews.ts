import { Type } from "typebox";
import { choice } from "../../schemas/field.ts";
import { DEFAULT_LIMIT, limit100, opaqueCursor } from "../../schemas/request-fields.ts";
import { cursorErrors, OpaquePage, readCursor } from "../../schemas/page.ts";
import { REVIEWERS, reviewItem, ReviewItem, stateFilter, stateOf } from "../../schemas/review.ts";
import { route } from "../../route.ts";
import { pageOfServices, serviceOf } from "./services.ts";

const page = OpaquePage(ReviewItem);

export const listReviews = route({
  method: "GET",
  url: "/api/v1/ops/reviews",
  scope: "ops",
  class: "read",
  tag: "Reviews",
  summary: "List open reviews",
  description:
    "Cases for manual review with their evidence and the available actions: movements on the trading platform, then pools, then fees, each ascending by number. Unreachable services are listed in `unreachable`; their reviews are missing.",
  query: Type.Object({
    state: Type.Optional(stateFilter),
    limit: Type.Optional(limit100(DEFAULT_LIMIT)),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: Type.Object({
    ...page.properties,
    unreachable: Type.Array(choice(REVIEWERS, { description: "Name of a service.", example: "platform" }), {
      description: "Services that could not be reached. Their reviews are missing from this page.",
    }),
  }),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, listOf(query), query.cursor)),

  async handle(deps, { query }, context) {
    const state = stateOf(query.state);
    const { found, next, unreachable } = await pageOfServices(
      {
        services: REVIEWERS,
        cursor: readCursor(deps, listOf(query), query.cursor) ?? 0n,
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        list: (service, page, within) => serviceOf(deps, service).listReviews({ ...page, state }, within),
      },
      context,
    );
    return {
      items: found.map(({ service, item }) => reviewItem(service, item)),
      next_cursor: next === undefined ? null : deps.cursors.write(listOf(query), next),
      has_more: next !== undefined,
      unreachable,
    };
  },
});

/** A cursor of one filter means nothing under another. */
function listOf({ state }: { readonly state?: string | undefined }): string {
  return `reviews?state=${state ?? "undecided"}`;
}
