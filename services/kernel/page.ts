/**
 * A page of this size fits into one message of the broker and one response of the edge. It also limits the logins that one
 * request names. The contracts state it too.
 */
export const MAX_PAGE_SIZE = 1_000;

/** The nearest size that a page may have. */
export function pageSize(limit: number): number {
  return Math.min(Math.max(limit, 1), MAX_PAGE_SIZE);
}

/** The store reads one row more than the page holds: its presence means that there is another page. */
export function pageOf<Row>(rows: readonly Row[], size: number): { items: Row[]; hasMore: boolean } {
  return { items: rows.slice(0, size), hasMore: rows.length > size };
}
