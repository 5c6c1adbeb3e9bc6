import { SERVICE_NAMES } from "#catalogue/services.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReportRecoveredRequest, ReportRecoveredResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { readGeneration } from "../store/permit-gate.ts";
import { insertRecoveryStep } from "../store/recovery.ts";

/** Records that a service has repaired its books by all that was imported until the generation. Permits can be resumed when all have. */
export async function reportRecovered(
  { pool }: Pick<Deps, "pool">,
  { service, generation }: ReportRecoveredRequest,
): Promise<ReportRecoveredResponse> {
  const isKnown = SERVICE_NAMES.some((name) => name === service);
  if (!isKnown) throw refuse("validation_failed", "The field service names no service.");
  await inTransaction(pool, async (tx) => {
    if ((await readGeneration(tx)) !== generation) {
      throw refuse("outdated", "More was imported, or the database was replaced, since the service has read what was.");
    }
    await insertRecoveryStep(tx, service, generation);
  });
  return {};
}
