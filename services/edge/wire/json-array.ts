/** The pages of a list. The last one is returned, so that a list of one page is known to be complete. */
export type Pages<Item> = AsyncGenerator<readonly Item[], readonly Item[]>;

type Serialize = (item: never) => string;

export function arrayOf(items: readonly unknown[], serialize: Serialize): string {
  return `[${joined(items, serialize)}]`;
}

/** One JSON array out of many pages; no more than a page is in memory. */
export async function* writeArray(
  first: readonly unknown[],
  rest: Pages<unknown>,
  serialize: Serialize,
): AsyncGenerator<string> {
  let separator = "[";
  for (let items = first, isLast = false; ;) {
    if (items.length > 0) {
      yield separator + joined(items, serialize);
      separator = ",";
    }
    if (isLast) break;
    const next = await rest.next();
    items = next.value;
    isLast = next.done === true;
  }
  yield separator === "[" ? "[]" : "]";
}

function joined(items: readonly unknown[], serialize: Serialize): string {
  return items.map((item) => serialize(item as never)).join(",");
}
