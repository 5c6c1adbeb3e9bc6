import { type Check, isBetween, isNotNegative } from "../domain/validate.ts";

const MOST_PER_PAGE = 1_000;

export function isPageSize(field: string, limit: number): Check {
  return isBetween(field, limit, 1, MOST_PER_PAGE);
}

export function isCursor(field: string, afterId: bigint): Check {
  return isNotNegative(field, afterId);
}

/** One row more than the page was read: whether it is there is all that is asked of it. */
export function pageOf<Row>(rows: readonly Row[], limit: number): { items: readonly Row[]; hasMore: boolean } {
  return { items: rows.slice(0, limit), hasMore: rows.length > limit };
}
