import { Type } from "typebox";
import type { Review } from "#proto/pamm/common/v1/review.ts";
import { isTrouble } from "#kernel/trouble.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { string } from "../../schemas/field.ts";
import { limit100, opaqueCursor } from "../../schemas/fields.ts";
import { cursorErrors, OpaquePage, readCursor } from "../../schemas/page.ts";
import { reviewItem, ReviewItem, stateFilter, stateOf } from "../../schemas/review.ts";
import { type Deps, route } from "../../route.ts";
import { refuse } from "../../refusals.ts";
import { keeperOf, type Source, SOURCES } from "./review-sources.ts";

const DEFAULT_LIMIT = 50;

const page = OpaquePage(ReviewItem);

export const listReviews = route({
  method: "GET",
  url: "/api/v1/ops/reviews",
  scope: "ops",
  class: "read",
  tag: "Reviews",
  summary: "List what people have to decide",
  description:
    "What no machine may decide, with its evidence and what may be decided: what concerns movements on the platform, then pools, then fees, each ascending by number. A part that cannot be reached is named in `unreachable`, and its reviews are missing from the page.",
  query: Type.Object({
    state: Type.Optional(stateFilter),
    limit: Type.Optional(limit100(DEFAULT_LIMIT)),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: Type.Object({
    ...page.properties,
    unreachable: Type.Array(string({ description: "Name of a part of this service.", example: "platform" }), {
      description: "Parts that could not be reached, whose reviews are missing from this page.",
    }),
  }),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(placeOfCursor(deps, query)?.afterId),

  async handle(deps, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const begin = placeOfCursor(deps, query) ?? FIRST;
    const read = await readFrom(deps, { begin, limit, state: query.state }, context);
    return {
      items: read.items.map(({ source, review }) => reviewItem(source, review)),
      next_cursor:
        read.next === undefined ? null : deps.cursors.write(listOf(read.next.source, query), read.next.afterId),
      has_more: read.next !== undefined,
      unreachable: read.unreachable,
    };
  },
});

type Place = { readonly source: Source; readonly afterId: bigint };
type Filter = { readonly state?: "open" | "proposed" | "decided" | undefined };
type Asked = Filter & { readonly begin: Place; readonly limit: number };
type Found = { readonly source: Source; readonly review: Review };

const FIRST: Place = { source: SOURCES[0], afterId: 0n };

/** A cursor of one part and filter means nothing in another. */
function listOf(source: Source, { state }: Filter): string {
  return `reviews?state=${state ?? "undecided"}&of=${source}`;
}

function placeOfCursor(deps: Deps, query: Filter & { readonly cursor?: string | undefined }): Place | undefined {
  if (query.cursor === undefined) return FIRST;
  for (const source of SOURCES) {
    const afterId = readCursor(deps, listOf(source, query), query.cursor);
    if (afterId !== undefined) return { source, afterId };
  }
  return undefined;
}

/** One part after the other, until the page is full. What cannot be reached is named; nothing at all is refused. */
async function readFrom(deps: Deps, { begin, limit, state }: Asked, context: CallContext) {
  const items: Found[] = [];
  const unreachable: Source[] = [];
  let next: Place | undefined;
  const rest = SOURCES.slice(SOURCES.indexOf(begin.source));
  for (const source of rest) {
    const afterId = source === begin.source ? begin.afterId : 0n;
    const room = limit - items.length;
    // Of a part that no room is left for, one review says whether another page follows.
    const wanted = { afterId, limit: Math.max(1, room), state: stateOf(state) };
    const read = await keeperOf(deps, source)
      .listReviews(wanted, context)
      .catch((error: unknown) => unlessTrouble(error));
    if (read === undefined) {
      unreachable.push(source);
      continue;
    }
    if (room === 0 && read.items.length > 0) {
      next = { source, afterId };
      break;
    }
    items.push(...read.items.map((review) => ({ source, review })));
    const last = read.items.at(-1);
    if (read.hasMore && last !== undefined) {
      next = { source, afterId: last.id };
      break;
    }
  }
  if (unreachable.length === rest.length)
    throw refuse("service_unavailable", "No part that keeps reviews can be reached.");
  return { items, unreachable, next };
}

function unlessTrouble(error: unknown): undefined {
  if (!isTrouble(error)) throw error;
  return undefined;
}
