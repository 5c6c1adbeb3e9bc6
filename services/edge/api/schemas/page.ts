import { bool, integer, list, model, nullableInteger, nullableString } from "../../fields/field.ts";
import { at, ofWhole, type Shown, shown, SHOW } from "../../fields/message.ts";
import { jsonInteger } from "../../wire/json-number.ts";

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
