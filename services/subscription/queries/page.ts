import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { type Check, isBetween, isNotNegative } from "../domain/validate.ts";

export function isPageSize(field: string, limit: number): Check {
  return isBetween(field, limit, 1, MAX_PAGE_SIZE);
}

export function isCursor(field: string, afterId: bigint): Check {
  return isNotNegative(field, afterId);
}
