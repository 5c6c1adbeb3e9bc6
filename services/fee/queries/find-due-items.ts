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
  const decided = await Promise.all(keys.map(async (key) => ({ key, decision: await queues.crystallisations(key) })));
  return {
    decided: decided.flatMap(({ key, decision }) =>
      decision === undefined ? [] : [{ key, items: decision.items.map(dueItem) }],
    ),
  };
}
