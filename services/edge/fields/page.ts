import { jsonInteger } from "../wire/number.ts";
import { bool, INT64, integer, list, model, nullableInteger, nullableString, read, text } from "./field.ts";
import { at, ofWhole, or, type Sent, SHOW, type Shown, shown } from "./message.ts";

/** Items of a page when the caller names no number. Part of the HTTP contract; some routes have another. */
export const DEFAULT_LIMIT = 50;

const limit = (most: 100 | 500, standard: number) =>
  or(
    read(
      text(`limit_${most}`, {
        description: `Maximum number of items, 1 to ${most}.`,
        example: standard,
        default: standard,
        shown: { type: "integer", minimum: 1, maximum: most },
      }),
      Number,
    ),
    standard,
  );

export const limit100 = (standard: number) => limit(100, standard);

export const limit500 = (standard: number) => limit(500, standard);

const cursorText = (description: string): Sent<string, string> =>
  text("integer_cursor", { description, example: 42, shown: { type: "integer", ...INT64, minimum: 0 } });

export const integerCursor = (description: string): Sent<string, bigint> => read(cursorText(description), BigInt);

/**
 * Of a list that begins with the newest id. Services read 0 as "from the newest". For a caller a cursor of 0 is before every id, so it becomes
 * 1, which matches nothing either.
 */
export const cursorBefore = (description: string) => {
  const before = read(cursorText(description), (id) => BigInt(id) || 1n);
  return at("beforeId", or(before, 0n));
};

const hasMoreReply = bool({ description: "Whether another page follows.", example: false });

/** What the answer of a list that is walked by an opaque cursor says of the page that follows. */
export const nextPage = {
  next_cursor: nullableString({ description: "Cursor of the next page; null on the last one.", example: null }),
  has_more: at(
    "nextCursor",
    shown(hasMoreReply, (next: string | undefined) => next !== undefined),
  ),
};

/** The members of such a page. */
export function opaquePage<Json, Source>(item: Shown<Json, Source>, order: string) {
  return { items: list(item, { description: order }), ...nextPage };
}

/** A page of a directory. */
export function OpaquePage<Json, Source>(name: string, item: Shown<Json, Source>, order = "Ascending by id.") {
  return model(name, `A page of the list. ${order}`, opaquePage(item, order));
}

/** A page of a list that goes on at the id of its last item. */
export function idPage<Item extends { readonly id: bigint }, Source>(
  item: Shown<Item, Source>,
  order = "Descending by id.",
  example = 42,
) {
  const nextCursor = nullableInteger({ description: "Cursor of the next page; null on the last one.", example });
  return {
    items: list(item, { description: order }),
    next_cursor: ofWhole(nextCursor, ({ items, hasMore }: { items: readonly Source[]; hasMore: boolean }) => {
      const last = hasMore ? items.at(-1) : undefined;
      return last === undefined ? null : jsonInteger(item[SHOW](last).id);
    }),
    has_more: hasMoreReply,
  };
}

/** A page of a list that grows at its end. */
export function ascendingPage<Item, Source>(item: Shown<Item, Source>) {
  return {
    items: list(item, { description: "Ascending by id." }),
    next_cursor: integer({
      description:
        "Cursor of the next request, also on the last page: the last id of the page, or the given cursor when the page is empty. Store it to go on later.",
      example: 42,
    }),
    has_more: hasMoreReply,
  };
}
