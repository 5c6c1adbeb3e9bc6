import { jsonInteger } from "../../wire/json-number.ts";

/** Fee reads 0 as "from the newest". For a caller a cursor of 0 is before every id, so it becomes 1, which matches nothing either. */
export function beforeId(cursor: string | undefined): bigint {
  if (cursor === undefined) return 0n;
  const id = BigInt(cursor);
  return id === 0n ? 1n : id;
}

/** The members of a page that begins with the newest id which say how to go on. */
export function endOf({
  items,
  hasMore,
}: {
  readonly items: readonly { readonly id: bigint }[];
  readonly hasMore: boolean;
}) {
  const last = hasMore ? items.at(-1) : undefined;
  return { next_cursor: last === undefined ? null : jsonInteger(last.id), has_more: hasMore };
}
