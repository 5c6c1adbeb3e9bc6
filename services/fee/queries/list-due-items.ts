import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { ListDueItemsRequest, ListDueItemsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { listCrystallisedItems } from "../store/crystallisations.ts";

/** The transfers that collect the due amounts of a key; their outcomes are read from platform. */
export async function listDueItems({ pool }: Deps, { key }: ListDueItemsRequest): Promise<ListDueItemsResponse> {
  const items = await listCrystallisedItems(pool, key);
  return {
    items: items.map((item) => ({ key: item.key, amount: moneyToProto(usd(item.amount)), isWeekly: item.isWeekly })),
  };
}
