import type { Break, ListBreaksRequest, ListBreaksResponse } from "#proto/pamm/common/v1/reconciliation.ts";

const BREAKS_PER_PAGE = 200;
/** Whoever has more breaks than this is found out by the first ones. */
const MOST_PAGES = 10;

/** The open breaks of one keeper, page by page, the oldest first. */
export async function* allBreaks(
  ask: (request: ListBreaksRequest) => Promise<ListBreaksResponse>,
): AsyncGenerator<Break> {
  let afterId = 0n;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items, hasMore } = await ask({ afterId, limit: BREAKS_PER_PAGE });
    yield* items;
    const last = items.at(-1);
    if (!hasMore || last === undefined) return;
    afterId = last.id;
  }
}
