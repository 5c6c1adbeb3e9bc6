/** One JSON array out of many pages; no more than a page is in memory. */
export async function* writeArray(
  first: IteratorResult<readonly unknown[]>,
  rest: AsyncIterator<readonly unknown[]>,
  serialize: (item: never) => string,
): AsyncGenerator<string> {
  let separator = "[";
  for (let page = first; page.done !== true; page = await rest.next()) {
    if (page.value.length === 0) continue;
    const items = page.value.map((item) => serialize(item as never));
    yield separator + items.join(",");
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}
