const MOST_ITEMS = 1_000;

/** The contract allows 1 to 1,000. */
export function pageSize(limit: number): number {
  return Math.min(Math.max(limit, 1), MOST_ITEMS);
}

/** One row more than the page holds says that there is more. */
export function pageOf<Row>(rows: readonly Row[], size: number): { items: Row[]; hasMore: boolean } {
  return { items: rows.slice(0, size), hasMore: rows.length > size };
}
