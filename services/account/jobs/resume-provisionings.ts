import { retryLevel } from "#kernel/transient-failure.ts";
import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";
import { fulfil } from "../processes/fulfil.ts";
import type { Deps } from "../deps.ts";
import { claimPending, getProvisioning, listUntidied, markTidied } from "../store/provisionings.ts";

/** Each creates up to two accounts on the trading platform, at the same time. */
const BATCH = 8;
/** The trading platform creates an account within seconds. */
const ATTEMPT_MS = 20_000;
/** Longer than an attempt, so that two replicas never resume one provisioning at once. */
const CLAIM_MS = 30_000;

/** Finishes provisionings that a crash or a lost answer interrupted. True when more may be due. */
export async function resumeProvisionings(deps: Deps): Promise<boolean> {
  const now = deps.now().getTime();
  const claimed = await claimPending(deps.pool, { at: new Date(now), until: new Date(now + CLAIM_MS), limit: BATCH });
  await Promise.all(claimed.map(({ operationId }) => resume(deps, operationId)));
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

async function resume(deps: Deps, operationId: string): Promise<void> {
  try {
    const provisioning = await getProvisioning(deps.pool, operationId);
    await fulfil(deps, provisioning, callContext({ caller: "account", withinMs: ATTEMPT_MS, commandId: operationId }));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("account creation failed, retry scheduled", { operation_id: operationId, error });
    }
  }
}
