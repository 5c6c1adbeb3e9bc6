import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { ReadTransfersRequest, ReadTransfersResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { refuse } from "../refusals.ts";
import { listLegsByKey } from "../store/transfer-legs.ts";

/** Of the database that records transfers: a key that is left out was not recorded at that time. */
export async function readTransfers(
  { pool }: Pick<Deps, "pool">,
  { keys }: ReadTransfersRequest,
): Promise<ReadTransfersResponse> {
  if (keys.length < 1 || keys.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} keys.`);
  }
  const recorded = await listLegsByKey(pool, keys);
  const transfers = Array.from(recorded, ([key, legs]) =>
    legs.slice(0, 1).map(({ transferId: id }) => transferResult({ id, key }, legs)),
  );
  return { transfers: transfers.flat() };
}
