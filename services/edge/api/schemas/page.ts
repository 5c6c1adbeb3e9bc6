import { Type, type TSchema } from "typebox";
import type { FieldError } from "#kernel/refusal.ts";
import type { Cursor } from "../../wire/cursor.ts";
import { bool, integer, list, model, nullableInteger, nullableString } from "../../fields/field.ts";
import { ofWhole, type Shown } from "../../fields/message.ts";
import { jsonInteger } from "../../wire/json-number.ts";

const hasMoreReply = bool({ description: "Whether another page follows.", example: false });

/** The members of a page that is walked by an opaque cursor. */
export function opaquePage<Item extends TSchema>(item: Item, order: string) {
  return {
    items: Type.Array(item, { description: order }),
    next_cursor: nullableString({ description: "Cursor of the next page; null on the last one.", example: null }),
    has_more: hasMoreReply,
  };
}

/** A page of a directory. */
export function OpaquePage<Item extends TSchema>(name: string, item: Item, order = "Ascending by id.") {
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
      return last === undefined ? null : jsonInteger(item["~show"](last).id);
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

const INVALID_CURSOR: FieldError = {
  field: "cursor",
  code: "invalid_cursor",
  message: "cursor must be the next_cursor of the same list with the same filter.",
};

/** A page of a list, whose name has the filter: a cursor of one means nothing under another. */
export function pageAt<Place>(cursors: Cursor<Place>, list: string, cursor: string | undefined) {
  const after = cursor === undefined ? undefined : cursors.read(list, cursor);
  return {
    errors: cursor === undefined || after !== undefined ? [] : [INVALID_CURSOR],
    /** Undefined on the first page. */
    after,
    /** What an answer says of the page that follows; undefined when none does. */
    next: (place: Place | undefined) => ({
      next_cursor: place === undefined ? null : cursors.write(list, place),
      has_more: place !== undefined,
    }),
  };
}
