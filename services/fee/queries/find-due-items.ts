import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { FindDueItemsRequest, FindDueItemsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { dueItem } from "../messages/due-item.ts";
import { refuse } from "../refusals.ts";

/** The transfers that collect the due amounts of many keys. The keys are read together. */
export async function findDueItems(
  { queues }: Pick<Deps, "queues">,
  { keys }: FindDueItemsRequest,
): Promise<FindDueItemsResponse> {
  if (keys.length < 1 || keys.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} keys.`);
  }
  const recorded = await Promise.all(keys.map((key) => queues.collections(key)));
  return {
    decided: recorded.flatMap((each) => (each === undefined ? [] : { key: each.key, items: each.items.map(dueItem) })),
  };
}
