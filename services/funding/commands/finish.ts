import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { markPosted } from "../store/cashflows.ts";

/** Records that the money moved. platform has recorded it already, so after a database failure the recovery job records it. */
export async function finish({ pool, log, now }: Deps, { id, operationId }: Cashflow, dealId: bigint): Promise<void> {
  try {
    await markPosted(pool, id, { dealId, at: now() });
  } catch (error) {
    log.info("executed operation not recorded, retry scheduled", { operation_id: operationId, error });
  }
}
