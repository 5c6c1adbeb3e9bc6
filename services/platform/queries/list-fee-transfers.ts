import type { ListFeeTransfersRequest, ListFeeTransfersResponse } from "#proto/pamm/platform/v1/platform.ts";
import { ownerOf } from "../checks/key-owner.ts";
import type { Deps } from "../deps.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { listLegsByKey } from "../store/transfer-legs.ts";
import { listKeysAfter } from "../store/transfers.ts";

/** Transfers of all services in one page: bounds what a page reads, however few of them are fees. */
const PAGE_SIZE = 1_000;

export async function listFeeTransfers(
  { pool }: Pick<Deps, "pool">,
  { afterTransferId }: ListFeeTransfersRequest,
): Promise<ListFeeTransfersResponse> {
  const page = await listKeysAfter(pool, afterTransferId, PAGE_SIZE);
  const keys = page.flatMap(({ key }) => (ownerOf(key) === "fee" ? [key] : []));
  const recorded = keys.length === 0 ? new Map<string, never>() : await listLegsByKey(pool, keys);
  const transfers = Array.from(recorded, ([key, legs]) =>
    legs.slice(0, 1).map(({ transferId: id }) => transferResult({ id, key }, legs)),
  );
  return {
    transfers: transfers.flat(),
    nextAfterTransferId: page.length === PAGE_SIZE ? (page.at(-1)?.id ?? 0n) : 0n,
  };
}
