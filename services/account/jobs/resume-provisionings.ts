import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import { fulfil } from "../processes/fulfil.ts";
import type { Deps } from "../deps.ts";
import { getProvisioning, listUntidied, markTidied, provisioningQueue } from "../store/provisionings.ts";

/** Each creates up to two accounts on the trading platform, at the same time. */
const BATCH = 8;
/** The trading platform creates an account within seconds. */
const ATTEMPT_MS = 20_000;

/** Finishes provisionings that a crash or a lost answer interrupted. True when more may be due. */
export async function resumeProvisionings(deps: Deps): Promise<boolean> {
  const claimed = await provisioningQueue.claim(deps.pool, BATCH);
  await Promise.all(claimed.map((row) => resume(deps, row)));
  return claimed.length === BATCH;
}

/** Disables the first account of a pair whose second one was refused finally: it must neither connect nor trade. */
export async function tidyFailed(deps: Deps): Promise<boolean> {
  for (const { id, login } of await listUntidied(deps.pool, BATCH)) {
    if (login !== null) {
      await deps.platform.disableAccount({ login }, callContext({ caller: "account", withinMs: ATTEMPT_MS }));
      deps.log.warn("account of an incomplete pair disabled, no action required", { login });
    }
    await markTidied(deps.pool, id);
  }
  return false;
}

type Claimed = { readonly id: bigint; readonly operationId: string; readonly tries: number };

async function resume(deps: Deps, { id, operationId, tries }: Claimed): Promise<void> {
  try {
    const provisioning = await getProvisioning(deps.pool, operationId);
    await fulfil(deps, provisioning, callContext({ caller: "account", withinMs: ATTEMPT_MS, commandId: operationId }));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("account creation failed, retry scheduled", { operation_id: operationId, error });
    }
    await provisioningQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error) }]);
  }
}
