import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { type Check, isBetween } from "../domain/validate.ts";

export function isPageSize(limit: number): Check {
  return isBetween("limit", limit, 1, MAX_PAGE_SIZE);
}
