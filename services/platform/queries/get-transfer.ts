import type { GetTransferRequest, TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { transferResult } from "../protocol/transfer-result.ts";
import { refuse } from "../refusals.ts";
import { listLegs } from "../store/legs.ts";
import { findTransferByKey } from "../store/transfers.ts";

/** "Not found" comes from the database that records transfers, so it proves that none was recorded at that time. */
export async function getTransfer({ pool }: Deps, { key }: GetTransferRequest): Promise<TransferResult> {
  const recorded = await findTransferByKey(pool, key);
  if (recorded === undefined) throw refuse("transfer_not_found", "No transfer is recorded under this key.");
  return transferResult(recorded, await listLegs(pool, recorded.id));
}
