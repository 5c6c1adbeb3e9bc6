import type { Deps } from "../deps.ts";
import type { Cashflow } from "../domain/cashflow.ts";
import { markPosted } from "../store/cashflows.ts";

/**
 * Records that the money moved. Platform's journal has proven it already, so a database that fails here takes nothing
 * back: the settling job records it later.
 */
export async function finish({ pool, log, now }: Deps, { id, operationId }: Cashflow, dealId: bigint): Promise<void> {
  try {
    await markPosted(pool, id, { dealId, at: now() });
  } catch (error) {
    log.warn("an executed operation is recorded later", { operation_id: operationId, error });
  }
}
